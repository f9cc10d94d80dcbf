-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, with the people they hold
-- yields: per candidate scheme and class size: how many classes there are
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
-- mask & kept bits names a row's class. Only integers are summed, so their order is free.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0
),
tuples AS (FROM "masks_1"),
classes AS (
  SELECT
    candidate | (w0 & b0) AS k0,
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
SELECT
  candidate,
  size,
  n_rows,
  n_classes
FROM sizes
