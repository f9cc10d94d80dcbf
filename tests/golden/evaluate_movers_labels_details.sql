-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, with the people they hold
-- yields: per candidate scheme and class size: how many classes there are
--         and their rows and squared rows
--         and the rows that are not of their class's majority label
--         then, with is_class = 1, each class that may be suppressed: its key and its rows
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
--         below, budget: classes smaller than `below` may be suppressed, smallest sizes first,
--         while the rows of all classes up to a size stay within `budget`
-- mask & kept bits names a row's class. Only integers are summed, so their order is free.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0
),
tuples AS (FROM "masks_1"),
classes AS MATERIALIZED (
  SELECT
    candidate | (w0 & b0) AS k0,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(people)::BIGINT + COUNT(DISTINCT mover) AS size
  FROM tuples, candidates
  GROUP BY ALL
),
parts AS (
  SELECT
    candidate | (w0 & b0) AS k0,
    label,
    SUM(n_rows)::BIGINT AS n_rows
  FROM "masks_1_labels", candidates
  GROUP BY ALL
),
minorities AS (
  SELECT
    k0,
    (SUM(n_rows) - MAX(n_rows))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
sizes AS MATERIALIZED (
  SELECT
    k0 >> 53 AS candidate,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    SUM(minority)::BIGINT AS minority,
    COUNT(*) AS n_classes
  FROM classes
  JOIN minorities USING (k0)
  GROUP BY 1, 2
),
smallest AS (
  SELECT candidate, size
  FROM (
    SELECT candidate, size, SUM(n_rows) OVER (PARTITION BY candidate ORDER BY size) AS up_to
    FROM sizes
    WHERE size < $3::BIGINT
  )
  WHERE up_to <= $4::BIGINT
)
SELECT
  candidate,
  size,
  0 AS is_class,
  0::BIGINT AS k0,
  n_rows,
  n_rows_squared,
  minority,
  n_classes
FROM sizes
UNION ALL
SELECT
  candidate,
  classes.size,
  1,
  k0,
  n_rows,
  0,
  0,
  1
FROM classes
JOIN smallest ON candidate = k0 >> 53 AND smallest.size = classes.size
