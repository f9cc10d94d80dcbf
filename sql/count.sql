-- reads:  the source
-- yields: one row per distinct tuple of atoms (q0, q1, …) and further values (v0, …): rows
SELECT
{% for atom in atoms %}
  {{ atom | sql }} AS q{{ loop.index0 }},
{% endfor %}
{% for value in values %}
  {{ value | sql }} AS v{{ loop.index0 }},
{% endfor %}
  COUNT(*) AS n_rows
FROM {{ source | sql }}
GROUP BY {% for _ in range(atoms | length + values | length) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

