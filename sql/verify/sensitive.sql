-- reads:  the audited table
-- yields: one row per size of class, in people: the most people of one class that share a value
--         of a sensitive column, and the fewest distinct values in one class; NULL is a value
SELECT
  size,
  MAX(largest) AS largest,
  MIN(n_values) AS n_values
FROM (
  SELECT
    CAST(SUM(CASE WHEN is_class = 1 THEN n ELSE 0 END) AS BIGINT) AS size,
    MAX(CASE WHEN is_class = 0 THEN n END) AS largest,
    CAST(SUM(1 - is_class) AS BIGINT) AS n_values
  FROM (
    SELECT
{% for value in quasi %}
      {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
      {{ sensitive | sql }} AS v,
      0 AS is_class,
      {{ people | sql }} AS n
    FROM {{ source | sql }}
    GROUP BY {% for _ in range(quasi | length + 1) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

    UNION ALL
    SELECT
{% for value in quasi %}
      {{ value | sql }},
{% endfor %}
      NULL,
      1,
      {{ people | sql }}
    FROM {{ source | sql }}
    GROUP BY {% for _ in quasi %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

  ) AS counted
  GROUP BY {% for _ in quasi %}q{{ loop.index0 }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS classes
GROUP BY size
