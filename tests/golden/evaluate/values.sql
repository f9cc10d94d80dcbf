-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, the people and rows they
--         hold; "masks_1_values": the same for each value of each sensitive column
-- yields: the classes of the candidate schemes by their keys: with kind = 0 a class, its people
--         and rows; with kind = 1 a value in it, how many people have it and in how many rows
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
-- mask & kept bits names a row's class.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0
)
SELECT
  candidate | (w0 & b0) AS k0,
  0 AS kind,
  0 AS column_number,
  0 AS value,
  SUM(people)::BIGINT AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM "masks_1", candidates
GROUP BY ALL
UNION ALL
SELECT
  candidate | (w0 & b0) AS k0,
  1 AS kind,
  column_number,
  value,
  SUM(people)::BIGINT AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM "masks_1_values", candidates
GROUP BY ALL
