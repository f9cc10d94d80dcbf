-- reads:  the audited table
-- yields: with is_class = 0 one row per class and value of a sensitive column, as text: how many
--         people of the class have it; NULL is a value. With is_class = 1 one row per class: its
--         people and rows
SELECT
  DENSE_RANK() OVER (ORDER BY {% for _ in quasi %}q{{ loop.index0 }}{% if not loop.last %}, {% endif %}{% endfor %}) AS class,
  is_class,
  {{ text | sql }} AS t,
  n,
  n_rows
FROM (
  SELECT
{% for value in quasi %}
    {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
    {{ sensitive | sql }} AS v,
    0 AS is_class,
    {{ people | sql }} AS n,
    COUNT(*) AS n_rows
  FROM {{ source | sql }}
  GROUP BY {% for _ in range(quasi | length + 1) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

  UNION ALL
  SELECT
{% for value in quasi %}
    {{ value | sql }},
{% endfor %}
    NULL,
    1,
    {{ people | sql }},
    COUNT(*)
  FROM {{ source | sql }}
  GROUP BY {% for _ in quasi %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS counted
