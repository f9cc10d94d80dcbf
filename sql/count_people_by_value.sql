-- reads:  the source, which has several rows per subject
-- yields: as count_people.sql, for each value of one further column (v0); a subject is
--         counted once for each of its values
WITH counted AS (
  SELECT
    {{ atoms | columns }},
    {{ value | sql }} AS v0,
    {{ subject | sql }} AS subject,
{% if spelling %}
    MIN({{ spelling | sql }}) AS spelling,
{% endif %}
    {{ n_rows | sql }} AS n_rows
  FROM {{ source | sql }}
  GROUP BY {{ atoms | ordinals }}, {{ atoms | length + 1 }}, {{ atoms | length + 2 }}
),
tuples AS (
  SELECT
    {{ atoms | names }},
{% if spelling %}
    MIN(spelling) AS spelling,
{% endif %}
    subject
  FROM counted
  GROUP BY {{ atoms | names }}, subject
),
places AS (
  SELECT
    subject,
{% if spelling %}
    MIN(spelling) AS person,
{% else %}
    subject AS person,
{% endif %}
    COUNT(*) AS n_tuples
  FROM tuples
  GROUP BY subject
)
SELECT
  {{ atoms | names }},
  v0,
  CASE WHEN n_tuples > 1 THEN person END AS mover,
  COUNT(*) AS n_people,
  CAST(SUM(n_rows) AS BIGINT) AS n_rows
FROM counted
JOIN places ON places.subject = counted.subject
GROUP BY {{ atoms | ordinals }}, {{ atoms | length + 1 }}, {{ atoms | length + 2 }}
