-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, with the people they hold
-- yields: per candidate scheme and class size: how many classes there are
--         and the rows that are not of their class's majority label
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
-- mask & kept bits names a row's class. Only integers are summed, so their order is free.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0
),
tuples AS (FROM "masks_1"),
parts AS (
  SELECT
    candidate | (w0 & b0) AS k0,
    label,
    SUM(people)::BIGINT AS people
  FROM tuples, candidates
  GROUP BY ALL
),
classes AS (
  SELECT
    k0,
    SUM(people)::BIGINT AS size,
    (SUM(people) - MAX(people))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    size,
    size * COUNT(*) AS n_rows,
    SUM(minority)::BIGINT AS minority,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
)
SELECT
  candidate,
  size,
  n_rows,
  minority,
  n_classes
FROM sizes
