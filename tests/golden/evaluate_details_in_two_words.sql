-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, with the people they hold
-- yields: per candidate scheme and class size: how many classes there are
--         then, with is_class = 1, each class that may be suppressed: its key and its rows
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
--         below, budget: classes smaller than `below` may be suppressed, smallest sizes first,
--         while the rows of all classes up to a size stay within `budget`
-- mask & kept bits names a row's class. Only integers are summed, so their order is free.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0,
    UNNEST($3::BIGINT[]) AS b1
),
tuples AS (FROM "masks_1"),
classes AS MATERIALIZED (
  SELECT
    candidate | (w0 & b0) AS k0,
    w1 & b1 AS k1,
    SUM(people)::BIGINT AS size
  FROM tuples, candidates
  GROUP BY ALL
),
sizes AS MATERIALIZED (
  SELECT
    k0 >> 53 AS candidate,
    size,
    size * COUNT(*) AS n_rows,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
),
smallest AS (
  SELECT candidate, size
  FROM (
    SELECT candidate, size, SUM(n_rows) OVER (PARTITION BY candidate ORDER BY size) AS up_to
    FROM sizes
    WHERE size < $4::BIGINT
  )
  WHERE up_to <= $5::BIGINT
)
SELECT
  candidate,
  size,
  0 AS is_class,
  0::BIGINT AS k0,
  0::BIGINT AS k1,
  n_rows,
  n_classes
FROM sizes
UNION ALL
SELECT
  candidate,
  classes.size,
  1,
  k0,
  k1,
  classes.size,
  1
FROM classes
JOIN smallest ON candidate = k0 >> 53 AND smallest.size = classes.size
