-- reads:  "masks_1", one row per atom tuple and label: masks w0, w1, … and people
-- yields: as plain.sql, and the number of rows without the majority label of their class
-- params: as plain.sql
WITH candidates AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "candidate",
    UNNEST(CAST($2 AS BIGINT[])) AS "b0"
),
tuples AS (
  FROM "masks_1"
),
parts AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    label,
    SUM(people)::BIGINT AS people
  FROM tuples, candidates
  GROUP BY ALL
),
classes AS (
  SELECT
    "k0",
    SUM(people)::BIGINT AS size,
    (SUM(people) - MAX(people))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    size,
    size * COUNT(*) AS n_rows,
    SUM(minority)::BIGINT AS minority,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
)
SELECT * FROM sizes
