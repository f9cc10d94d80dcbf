-- reads:  {{ table | identifier }}, as subjects.sql;
--         {{ labels | identifier }}, one row per atom tuple and label: masks w0, w1, … and rows
-- yields: as subjects.sql, and the number of rows without the majority label of their class
-- params: as plain.sql; the two tables are never rolled up
WITH candidates AS (
  SELECT
    {{ candidates | columns }}
),
classes AS (
  SELECT
    {{ keys | columns }},
    SUM(n_rows)::BIGINT AS n_rows,
    {{ people | sql }} AS size
  FROM {{ table | identifier }}, candidates
  GROUP BY ALL
),
parts AS (
  SELECT
    {{ keys | columns }},
    label,
    SUM(n_rows)::BIGINT AS n_rows
  FROM {{ labels | identifier }}, candidates
  GROUP BY ALL
),
minorities AS (
  SELECT
    {{ keys | names }},
    (SUM(n_rows) - MAX(n_rows))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> {{ first_word_bits }} AS candidate,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    SUM(minority)::BIGINT AS minority,
    COUNT(*) AS n_classes
  FROM classes
  JOIN minorities USING ({{ keys | names }})
  GROUP BY 1, 2
)
{% if details %}
{% include "evaluate/suppressible.sql" %}
{% else %}
SELECT * FROM sizes
{% endif %}
