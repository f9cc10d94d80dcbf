-- reads:  the source, which has several rows a subject
-- yields: one row per tuple of atoms and mover: people and rows; mover is NULL for the
--         subjects whose rows all share one tuple, and names each other subject; where a
--         collation takes texts for one subject, it is called by the first of its spellings
WITH counted AS (
  SELECT
{% for atom in atoms %}
    {{ atom | sql }} AS q{{ loop.index0 }},
{% endfor %}
    {{ subject | sql }} AS subject,
{% if spelling is not none %}
    MIN({{ spelling | sql }}) AS spelling,
{% endif %}
    COUNT(*) AS n_rows
  FROM {{ source | sql }}
  GROUP BY {% for _ in range(atoms | length + 1) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

),
placed AS (
  SELECT
    counted.*,
{% if spelling is not none %}
    MIN(spelling) OVER (PARTITION BY subject) AS person,
{% endif %}
    COUNT(*) OVER (PARTITION BY subject) AS n_tuples
  FROM counted
)
SELECT
{% for _ in atoms %}
  q{{ loop.index0 }},
{% endfor %}
  CASE WHEN n_tuples > 1 THEN {% if spelling is not none %}person{% else %}subject{% endif %} END AS mover,
  COUNT(*) AS n_people,
  CAST(SUM(n_rows) AS BIGINT) AS n_rows
FROM placed
GROUP BY {% for _ in range(atoms | length + 1) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

