-- reads:  the source, which has several rows a subject
-- yields: as count_people.sql, for each value of one further column (v0); a subject is
--         counted once for every value it has
WITH counted AS (
  SELECT
{% for atom in atoms %}
    {{ atom | sql }} AS q{{ loop.index0 }},
{% endfor %}
    {{ value | sql }} AS v0,
    {{ subject | sql }} AS subject,
{% if spelling is not none %}
    MIN({{ spelling | sql }}) AS spelling,
{% endif %}
    COUNT(*) AS n_rows
  FROM {{ source | sql }}
  GROUP BY {% for _ in range(atoms | length + 2) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

),
tuples AS (
  SELECT
{% for _ in atoms %}
    q{{ loop.index0 }},
{% endfor %}
{% if spelling is not none %}
    MIN(spelling) AS spelling,
{% endif %}
    subject
  FROM counted
  GROUP BY {% for _ in atoms %}q{{ loop.index0 }}, {% endfor %}subject
),
places AS (
  SELECT
    subject,
{% if spelling is not none %}
    MIN(spelling) AS person,
{% endif %}
    COUNT(*) AS n_tuples
  FROM tuples
  GROUP BY subject
)
SELECT
{% for _ in atoms %}
  q{{ loop.index0 }},
{% endfor %}
  v0,
  CASE WHEN n_tuples > 1 THEN {% if spelling is not none %}person{% else %}counted.subject{% endif %} END AS mover,
  COUNT(*) AS n_people,
  CAST(SUM(n_rows) AS BIGINT) AS n_rows
FROM counted
JOIN places ON places.subject = counted.subject
GROUP BY {% for _ in range(atoms | length + 2) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

