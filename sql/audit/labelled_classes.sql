-- reads:  the audited table, or a population that is generalized like it
-- yields: one row per class, its values as text: rows and people
SELECT
{% for text in texts %}
  {{ text | sql }} AS t{{ loop.index0 }},
{% endfor %}
  n_rows,
  n_people
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
