-- reads:  the audited table
-- yields: rows of its smallest classes, values as text; only where values were asked for
SELECT
{% for _ in columns %}
  t{{ loop.index0 }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM (
  SELECT
{% for value in quasi %}
    {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
{% for value in columns %}
    CAST({{ value | sql }} AS TEXT) AS t{{ loop.index0 }}{% if not loop.last %},{% endif %}

{% endfor %}
  FROM {{ source | sql }}
) AS members
JOIN (
  SELECT
{% for value in quasi %}
    {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
    COUNT(*) AS n_rows,
    {{ people | sql }} AS n_people
  FROM {{ source | sql }}
  GROUP BY {% for _ in quasi %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

  ORDER BY {{ quasi | length + 2 }}, {{ quasi | length + 1 }}{% for _ in quasi %}, {{ loop.index }}{% endfor %}

  LIMIT {{ limit }}
) AS classes
  ON {{ is_member | sql }}
ORDER BY classes.n_people, classes.n_rows{% for _ in quasi %}, members.q{{ loop.index0 }}{% endfor %}{% for _ in columns %}, {{ loop.index }}{% endfor %}

LIMIT {{ limit }}
