-- reads:  the source, which has several rows per subject
-- yields: one row per tuple of atoms and mover: people and rows; mover is NULL for all
--         subjects whose rows share one tuple, and names each other subject; if a collation
--         treats several spellings as one subject, mover is the first of them
WITH counted AS (
  SELECT
    {{ atoms | columns }},
    {{ subject | sql }} AS subject,
{% if spelling %}
    MIN({{ spelling | sql }}) AS spelling,
{% endif %}
    {{ n_rows | sql }} AS n_rows
  FROM {{ source | sql }}
  GROUP BY {{ atoms | ordinals }}, {{ atoms | length + 1 }}
),
placed AS (
  SELECT
    counted.*,
{% if spelling %}
    MIN(spelling) OVER (PARTITION BY subject) AS person,
{% else %}
    subject AS person,
{% endif %}
    COUNT(*) OVER (PARTITION BY subject) AS n_tuples
  FROM counted
)
SELECT
  {{ atoms | names }},
  CASE WHEN n_tuples > 1 THEN person END AS mover,
  COUNT(*) AS n_people,
  CAST(SUM(n_rows) AS BIGINT) AS n_rows
FROM placed
GROUP BY {{ atoms | ordinals }}, {{ atoms | length + 1 }}
