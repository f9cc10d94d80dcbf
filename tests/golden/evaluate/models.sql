-- reads:  "masks_1", one row per atom tuple: its masks w0, w1, …; in p0, p1, …
--         its people and the number of people per sensitive value, several counts per word; if
--         the models need no more, words with one bit per value that occurs
-- yields: per candidate scheme, badness and class size: the classes, their rows and squared rows,
--         and what the worst of them reaches in each model (s0, s1, …). A class is bad if it
--         violates a model or is smaller than the required k
-- params: $1 the candidates' numbers, shifted to their bits of word 0; then their kept bits, one
--         list per word
-- A tuple's mask & a candidate's kept bits names the tuple's class. Only integers are summed over
-- rows and classes.
WITH candidates AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "candidate",
    UNNEST(CAST($2 AS BIGINT[])) AS "b0"
),
tuples AS (
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    "w0" & CAST($3 AS BIGINT) AS "w0",
    CAST(SUM("p0") AS BIGINT) AS "p0"
  FROM "masks_1"
  GROUP BY ALL
),
totals AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    CAST(SUM("p0") AS BIGINT) AS "p0"
  FROM tuples, candidates
  GROUP BY ALL
)
-- reads:  the part totals above: the counts of every class, several counts per word
-- yields: the classes by candidate, badness and size; on request also those that may be suppressed
, classes AS (
  SELECT
    "k0",
    "p0" & 15 AS "n_rows",
    ("p0" >> 4) & 15 AS "c0_0",
    ("p0" >> 8) & 15 AS "c0_1",
    ("p0" >> 12) & 15 AS "c0_2",
    "p0" & 15 AS "size"
  FROM totals
),
reached AS (
  SELECT
    "k0",
    size,
    n_rows,
    CAST(("c0_0" > 0) AS BIGINT) + CAST(("c0_1" > 0) AS BIGINT) + CAST(("c0_2" > 0) AS BIGINT) AS "s0",
    (GREATEST(("c0_0" * 12) - ("size" * 5), 0) + GREATEST(("c0_1" * 12) - ("size" * 3), 0) + GREATEST(("c0_2" * 12) - ("size" * 4), 0)) / ("size" * 12) AS "s1"
  FROM classes
),
judged AS (
  SELECT
    *,
    "size" < 4 OR "s0" < CAST(3.0 AS DOUBLE) OR "s1" > CAST(0.200000001 AS DOUBLE) AS bad
  FROM reached
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    bad::BIGINT AS bad,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    CAST(MIN("s0") AS DOUBLE) AS "s0",
    CAST(MAX("s1") AS DOUBLE) AS "s1",
    COUNT(*) AS n_classes
  FROM judged
  GROUP BY 1, 2, 3
)
-- reads:  the parts judged and sizes above
-- yields: as suppressible.sql, but bad classes may be suppressed whatever their size, and come
--         before the others
-- params: as suppressible.sql
, smallest AS (
  SELECT candidate, bad, size
  FROM (
    SELECT
      candidate, bad, size,
      SUM(n_rows) OVER (PARTITION BY candidate ORDER BY bad DESC, size) AS up_to
    FROM sizes
    WHERE bad = 1 OR size < CAST($4 AS BIGINT)
  )
  WHERE up_to <= CAST($5 AS BIGINT)
)
SELECT
  candidate,
  bad,
  size,
  0 AS is_class,
  CAST(0 AS BIGINT) AS "k0",
  "n_rows", "n_rows_squared", "s0", "s1", "n_classes"
FROM sizes
UNION ALL
SELECT
  smallest.candidate,
  smallest.bad,
  judged.size,
  1 AS is_class,
  "k0",
  "n_rows",
  0 AS "n_rows_squared",
  0 AS "s0",
  0 AS "s1",
  1 AS "n_classes"
FROM judged
JOIN smallest
  ON smallest.candidate = k0 >> 53
  AND smallest.size = judged.size
  AND smallest.bad = judged.bad::BIGINT
