-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, with the people they hold
-- yields: per candidate scheme and class size: how many classes there are
--         and their rows and squared rows
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
--         the union of the kept bits, a word each
-- mask & kept bits names a row's class. Only integers are summed, so their order is free.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0
),
tuples AS (  -- the common refinement of the candidates
  SELECT
    w0 & $3::BIGINT AS w0,
    mover,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(people)::BIGINT AS people
  FROM "masks_1"
  GROUP BY ALL
),
classes AS (
  SELECT
    candidate | (w0 & b0) AS k0,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(people)::BIGINT + COUNT(DISTINCT mover) AS size
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
SELECT
  candidate,
  size,
  n_rows,
  n_rows_squared,
  n_classes
FROM sizes
