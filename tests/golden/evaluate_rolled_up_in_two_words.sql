-- reads:  "masks_1", one row per atom tuple: its masks w0, w1, … and its people
-- yields: per candidate scheme and class size: the number of classes, and their rows
-- params: $1 the candidates' numbers, shifted to their bits of word 0; then their kept bits, one
--         list per word
-- A tuple's mask & a candidate's kept bits names the tuple's class. Only integers are summed, so
-- the order of rows does not matter.
WITH candidates AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "candidate",
    UNNEST(CAST($2 AS BIGINT[])) AS "b0",
    UNNEST(CAST($3 AS BIGINT[])) AS "b1"
),
tuples AS (
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    "w0" & CAST($4 AS BIGINT) AS "w0",
    "w1" & CAST($5 AS BIGINT) AS "w1",
    SUM(people)::BIGINT AS people
  FROM "masks_1"
  GROUP BY ALL
),
classes AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    "w1" & "b1" AS "k1",
    SUM(people)::BIGINT AS size
  FROM tuples, candidates
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    size,
    size * COUNT(*) AS n_rows,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
)
SELECT * FROM sizes
