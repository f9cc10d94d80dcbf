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
  FROM "masks_1"
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
-- reads:  the parts classes and sizes above
-- yields: with is_class = 0 the sizes; with is_class = 1 each class that may be suppressed, its
--         key and its rows. These are classes smaller than `below`, smallest sizes first, as long
--         as the rows of all classes up to a size stay within `budget`
-- params: the last two: below, budget
, smallest AS (
  SELECT candidate, size
  FROM (
    SELECT candidate, size, SUM(n_rows) OVER (PARTITION BY candidate ORDER BY size) AS up_to
    FROM sizes
    WHERE size < CAST($4 AS BIGINT)
  )
  WHERE up_to <= CAST($5 AS BIGINT)
)
SELECT
  candidate,
  size,
  0 AS is_class,
  CAST(0 AS BIGINT) AS "k0",
  CAST(0 AS BIGINT) AS "k1",
  "n_rows", "n_classes"
FROM sizes
UNION ALL
SELECT
  candidate,
  classes.size,
  1 AS is_class,
  "k0", "k1",
  "classes"."size" AS "n_rows",
  1 AS "n_classes"
FROM classes
JOIN smallest ON candidate = k0 >> 53 AND smallest.size = classes.size
