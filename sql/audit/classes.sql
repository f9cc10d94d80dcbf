-- reads:  the audited table
-- yields: one row per size that a class has, in rows and in people: how many classes
SELECT
  n_rows,
  n_people,
  COUNT(*) AS n_classes
FROM (
  SELECT
{% for value in quasi %}
    {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
    COUNT(*) AS n_rows,
    {{ people | sql }} AS n_people
  FROM {{ source | sql }}
  GROUP BY {% for _ in quasi %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS classes
GROUP BY n_rows, n_people
