-- reads:  "masks_1", as models.sql, and what is counted by class and cannot be
--         added up over tuples; each part has a file of its name: moving.sql, moving_values.sql,
--         population.sql
-- yields: as models.sql
-- params: as models.sql
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
    CAST(SUM("p0") AS BIGINT) AS "p0",
    CAST(BIT_OR("c0_held_0") AS BIGINT) AS "c0_held_0"
  FROM "masks_1"
  GROUP BY ALL
),
counts AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    "w1" & "b1" AS "k1",
    CAST(SUM("p0") AS BIGINT) AS "p0",
    CAST(BIT_OR("c0_held_0") AS BIGINT) AS "c0_held_0",
    CAST(SUM(0) AS BIGINT) AS "population"
  FROM tuples, candidates
  GROUP BY ALL
)
-- reads:  "masks_1_population": the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source;
--         the part candidates above
-- yields: population: its people in the classes of the candidates, even in classes without a row
, residents AS (
  SELECT
    "w0" & CAST($4 AS BIGINT) AS "w0",
    "w1" & CAST($5 AS BIGINT) AS "w1",
    "none0" & CAST($4 AS BIGINT) AS "none0",
    "none1" & CAST($5 AS BIGINT) AS "none1",
    "pair0" & CAST($4 AS BIGINT) AS "pair0",
    "pair1" & CAST($5 AS BIGINT) AS "pair1",
    "mover",
    SUM(people)::BIGINT AS people
  FROM "masks_1_population"
  GROUP BY ALL
),
population AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    "w1" & "b1" AS "k1",
    CAST(SUM(0) AS BIGINT) AS "p0",
    CAST(BIT_OR(0) AS BIGINT) AS "c0_held_0",
    CAST(SUM("people") AS BIGINT) + COUNT(DISTINCT "mover") AS "population"
  FROM residents, candidates
  WHERE ("none0" & "b0") = 0 AND ("pair0" & "b0" & ("b0" << 1)) = 0 AND ("none1" & "b1") = 0 AND ("pair1" & "b1" & ((("b1" & 4611686018427387903) << 1) | ("b0" >> 52))) = 0
  GROUP BY ALL
)
, totals AS (
  SELECT
    "k0", "k1",
    CAST(SUM("p0") AS BIGINT) AS "p0",
    CAST(BIT_OR("c0_held_0") AS BIGINT) AS "c0_held_0",
    CAST(SUM("population") AS BIGINT) AS "population"
  FROM (
    FROM counts
    UNION ALL FROM "population"
  )
  GROUP BY ALL
)
-- reads:  the part totals above: the counts of every class, several counts per word
-- yields: the classes by candidate, badness and size; on request also those that may be suppressed
, classes AS (
  SELECT
    "k0", "k1",
    "p0" & 127 AS "n_rows",
    "population",
    "c0_held_0",
    "p0" & 127 AS "size"
  FROM totals
  WHERE size > 0  -- without classes of the population alone
),
reached AS (
  SELECT
    "k0", "k1",
    size,
    n_rows,
    "population" AS "s0",
    CAST(BIT_COUNT("c0_held_0") AS BIGINT) AS "s1"
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
    CAST(MIN("s0") AS DOUBLE) AS "s0",
    CAST(MIN("s1") AS DOUBLE) AS "s1",
    COUNT(*) AS n_classes
  FROM judged
  GROUP BY 1, 2, 3
)
SELECT * FROM sizes
