-- reads:  a staged table with a column that is released to be predicted
-- yields: one row: the rows that have the most frequent label of their class, NULL being one too
SELECT CAST(COALESCE(SUM(n_most), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
{% for value in quasi %}
    q{{ loop.index0 }},
{% endfor %}
    MAX(n_rows) AS n_most
  FROM (
    SELECT
{% for value in quasi %}
      {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
      {{ label | sql }} AS label,
      COUNT(*) AS n_rows
    FROM {{ source | sql }}
{% if is_marked %}
    WHERE NOT ({{ is_marked | sql }})
{% endif %}
    GROUP BY {% for _ in range(quasi | length + 1) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

  ) AS labelled
  GROUP BY {% for _ in quasi %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS classes
