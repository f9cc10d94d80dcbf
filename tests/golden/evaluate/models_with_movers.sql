-- reads:  "masks_1", as models.sql, and what is counted by class and cannot be
--         added up over tuples; each part has a file of its name: moving.sql, moving_values.sql,
--         population.sql
-- yields: as models.sql
-- params: as models.sql
WITH candidates AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "candidate",
    UNNEST(CAST($2 AS BIGINT[])) AS "b0"
),
tuples AS (
  FROM "masks_1"
),
counts AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    CAST(SUM("p0") AS BIGINT) AS "p0",
    CAST(SUM("n_rows") AS BIGINT) AS "n_rows"
  FROM tuples, candidates
  GROUP BY ALL
)
-- reads:  "masks_1_movers": the tuples of people who are in several;
--         the part candidates above
-- yields: moving: each of these people once per class, even if in several of its tuples
, moving AS (
  SELECT
    "k0",
    CAST(SUM(1) AS BIGINT) AS "p0",
    CAST(SUM(0) AS BIGINT) AS "n_rows"
  FROM (
    SELECT DISTINCT
      "candidate" | ("w0" & "b0") AS "k0",
      mover
    FROM "masks_1_movers", candidates
  )
  GROUP BY ALL
)
-- reads:  "masks_1_values": the sensitive values of people who are in several tuples,
--         each with what one person adds to p0, p1, …; the part candidates above
-- yields: moving_values: each of these values once per person and class
, moving_values AS (
  SELECT
    "k0",
    CAST(SUM("p0") AS BIGINT) AS "p0",
    CAST(SUM(0) AS BIGINT) AS "n_rows"
  FROM (
    SELECT DISTINCT
      "candidate" | ("w0" & "b0") AS "k0",
      "p0",
      mover,
      column_number,
      value
    FROM "masks_1_values", candidates
  )
  GROUP BY ALL
)
, totals AS (
  SELECT
    "k0",
    CAST(SUM("p0") AS BIGINT) AS "p0",
    CAST(SUM("n_rows") AS BIGINT) AS "n_rows"
  FROM (
    FROM counts
    UNION ALL FROM "moving"
    UNION ALL FROM "moving_values"
  )
  GROUP BY ALL
)
-- reads:  the part totals above: the counts of every class, several counts per word
-- yields: the classes by candidate, badness and size; on request also those that may be suppressed
, classes AS (
  SELECT
    "k0",
    "n_rows",
    ("p0" >> 3) & 7 AS "c0_0",
    ("p0" >> 6) & 7 AS "c0_1",
    "p0" & 7 AS "size"
  FROM totals
),
reached AS (
  SELECT
    "k0",
    size,
    n_rows,
    GREATEST("c0_0", "c0_1") / "size" AS "s0"
  FROM classes
),
judged AS (
  SELECT
    *,
    "s0" > CAST(0.600000001 AS DOUBLE) AS bad
  FROM reached
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    bad::BIGINT AS bad,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    CAST(MAX("s0") AS DOUBLE) AS "s0",
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
    WHERE bad = 1 OR size < CAST($3 AS BIGINT)
  )
  WHERE up_to <= CAST($4 AS BIGINT)
)
SELECT
  candidate,
  bad,
  size,
  0 AS is_class,
  CAST(0 AS BIGINT) AS "k0",
  "n_rows", "n_rows_squared", "s0", "n_classes"
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
  1 AS "n_classes"
FROM judged
JOIN smallest
  ON smallest.candidate = k0 >> 53
  AND smallest.size = judged.size
  AND smallest.bad = judged.bad::BIGINT
