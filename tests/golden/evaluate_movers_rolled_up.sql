-- reads:  "masks_1", one row per atom tuple and mover: masks w0, w1, …, people and
--         rows; a mover is a person in several tuples
-- yields: per candidate scheme and class size, in people: the classes, their rows, squared rows
-- params: as plain.sql
WITH candidates AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "candidate",
    UNNEST(CAST($2 AS BIGINT[])) AS "b0"
),
tuples AS (
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    "w0" & CAST($3 AS BIGINT) AS "w0",
    "mover",
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(people)::BIGINT AS people
  FROM "masks_1"
  GROUP BY ALL
),
classes AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    SUM(n_rows)::BIGINT AS n_rows,
    CAST(SUM("people") AS BIGINT) + COUNT(DISTINCT "mover") AS size
  FROM tuples, candidates
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
)
SELECT * FROM sizes
