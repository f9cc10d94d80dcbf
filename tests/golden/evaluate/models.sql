-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, and in p0, p1, … how many
--         people they hold and how many have which sensitive values, several counts to a word
-- yields: per candidate scheme, whether a class violates a model or is smaller than the required
--         k, and class size: how many classes there are, their rows and squared rows, and what
--         the worst of them reaches of each model (s0, s1, …)
--         then, with is_class = 1, each class that may be suppressed: its key and its rows
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
--         the union of the kept bits, a word each
--         below, budget: classes that violate come first, then those smaller than `below`,
--         each the smallest sizes first, while all their rows stay within `budget`
-- mask & kept bits names a row's class. Only integers are summed over rows and classes.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0
),
tuples AS (  -- the common refinement of the candidates
  SELECT
    w0 & $3::BIGINT AS w0,
    SUM("p0")::BIGINT AS "p0"
  FROM "masks_1"
  GROUP BY ALL
),
counts AS (
  SELECT
    candidate | (w0 & b0) AS k0,
    SUM("p0")::BIGINT AS "p0"
  FROM tuples, candidates
  GROUP BY ALL
),
totals AS (
  FROM counts
),
classes AS (
  SELECT
    k0,
    p0 & 15 AS n_rows,
    (p0 >> 4) & 15 AS "c0_0",
    (p0 >> 8) & 15 AS "c0_1",
    (p0 >> 12) & 15 AS "c0_2",
    p0 & 15 AS size
  FROM totals
),
reached AS (
  SELECT
    k0,
    n_rows,
    CAST(("c0_0" > 0) AS BIGINT) + CAST(("c0_1" > 0) AS BIGINT) + CAST(("c0_2" > 0) AS BIGINT) AS s0,
    (GREATEST(("c0_0" * 12) - ("size" * 5), 0) + GREATEST(("c0_1" * 12) - ("size" * 3), 0) + GREATEST(("c0_2" * 12) - ("size" * 4), 0)) / ("size" * 12) AS s1,
    size
  FROM classes
),
judged AS MATERIALIZED (
  SELECT
    *,
    "size" < 4 OR "s0" < CAST(3.0 AS DOUBLE) OR "s1" > CAST(0.200000001 AS DOUBLE) AS bad
  FROM reached
),
sizes AS MATERIALIZED (
  SELECT
    k0 >> 53 AS candidate,
    bad::BIGINT AS bad,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    MIN(s0)::DOUBLE AS s0,
    MAX(s1)::DOUBLE AS s1,
    COUNT(*) AS n_classes
  FROM judged
  GROUP BY 1, 2, 3
),
smallest AS (
  SELECT candidate, bad, size
  FROM (
    SELECT
      candidate, bad, size,
      SUM(n_rows) OVER (PARTITION BY candidate ORDER BY bad DESC, size) AS up_to
    FROM sizes
    WHERE bad = 1 OR size < $4::BIGINT
  )
  WHERE up_to <= $5::BIGINT
)
SELECT
  candidate,
  bad,
  size,
  0 AS is_class,
  0::BIGINT AS k0,
  n_rows,
  n_rows_squared,
  s0,
  s1,
  n_classes
FROM sizes
UNION ALL
SELECT
  smallest.candidate,
  smallest.bad,
  judged.size,
  1,
  k0,
  n_rows,
  0,
  0,
  0,
  1
FROM judged
JOIN smallest
  ON smallest.candidate = k0 >> 53
  AND smallest.size = judged.size
  AND smallest.bad = judged.bad::BIGINT
