-- reads:  the audited table
-- yields: its smallest classes, values as text; only where values were asked for
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
ORDER BY n_people, n_rows{% for _ in quasi %}, {{ loop.index }}{% endfor %}

LIMIT {{ limit }}
