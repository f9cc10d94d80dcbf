-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, and in p0, p1, … how many
--         people they hold and how many have which sensitive values, several counts to a word
--         and in "c0_held_0" which sensitive values occur, one bit each
--         "masks_1_population": the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source
-- yields: per candidate scheme, whether a class violates a model or is smaller than the required
--         k, and class size: how many classes there are, their rows and squared rows, and what
--         the worst of them reaches of each model (s0, s1, …)
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
--         the union of the kept bits, a word each
-- mask & kept bits names a row's class. Only integers are summed over rows and classes.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0,
    UNNEST($3::BIGINT[]) AS b1
),
tuples AS (  -- the common refinement of the candidates
  SELECT
    w0 & $4::BIGINT AS w0,
    w1 & $5::BIGINT AS w1,
    SUM("p0")::BIGINT AS "p0",
    BIT_OR("c0_held_0")::BIGINT AS "c0_held_0"
  FROM "masks_1"
  GROUP BY ALL
),
counts AS (
  SELECT
    candidate | (w0 & b0) AS k0,
    w1 & b1 AS k1,
    SUM("p0")::BIGINT AS "p0",
    BIT_OR("c0_held_0")::BIGINT AS "c0_held_0",
    SUM(0)::BIGINT AS "population"
  FROM tuples, candidates
  GROUP BY ALL
),
citizens AS (
  SELECT
    "w0" & $4::BIGINT AS "w0",
    "w1" & $5::BIGINT AS "w1",
    "none0" & $4::BIGINT AS "none0",
    "none1" & $5::BIGINT AS "none1",
    "pair0" & $4::BIGINT AS "pair0",
    "pair1" & $5::BIGINT AS "pair1",
    mover,
    SUM(people)::BIGINT AS people
  FROM "masks_1_population"
  GROUP BY ALL
),
population AS (  -- in the classes of the candidates, whether they hold a row or not
  SELECT
    candidate | (w0 & b0) AS k0,
    w1 & b1 AS k1,
    SUM(0)::BIGINT AS "p0",
    BIT_OR(0)::BIGINT AS "c0_held_0",
    SUM(people)::BIGINT + COUNT(DISTINCT mover) AS population
  FROM citizens, candidates
  WHERE (none0 & b0) = 0
    AND (pair0 & b0 & (b0 << 1)) = 0
    AND (none1 & b1) = 0
    AND (pair1 & b1 & (((b1 & 4611686018427387903) << 1) | (b0 >> 52))) = 0
  GROUP BY ALL
),
totals AS (
  SELECT
    k0,
    k1,
    SUM("p0")::BIGINT AS "p0",
    BIT_OR("c0_held_0")::BIGINT AS "c0_held_0",
    SUM("population")::BIGINT AS "population"
  FROM (
    FROM counts
    UNION ALL FROM population
  )
  GROUP BY ALL
),
classes AS (
  SELECT
    k0,
    k1,
    p0 & 127 AS n_rows,
    population,
    "c0_held_0",
    p0 & 127 AS size
  FROM totals
  WHERE p0 & 127 > 0
),
reached AS (
  SELECT
    k0,
    k1,
    n_rows,
    "population" AS s0,
    CAST(BIT_COUNT("c0_held_0") AS BIGINT) AS s1,
    size
  FROM classes
),
judged AS (
  SELECT
    *,
    "s0" < CAST(2.0 AS DOUBLE) OR "s1" < CAST(2.0 AS DOUBLE) AS bad
  FROM reached
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    bad::BIGINT AS bad,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    MIN(s0)::DOUBLE AS s0,
    MIN(s1)::DOUBLE AS s1,
    COUNT(*) AS n_classes
  FROM judged
  GROUP BY 1, 2, 3
)
SELECT
  candidate,
  bad,
  size,
  n_rows,
  n_rows_squared,
  s0,
  s1,
  n_classes
FROM sizes
