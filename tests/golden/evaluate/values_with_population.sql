-- reads:  "masks_1": the masks w0, w1, … of the atom tuples, the people and rows they
--         hold; "masks_1_values": the same for each value of each sensitive column
--         "masks_1_population": the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source
-- yields: the classes of the candidate schemes by their keys: with kind = 0 a class, its people
--         and rows; with kind = 1 a value in it, how many people have it and in how many rows
--         with kind = 2 how many people of the population are in it, be it a class or not
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
-- mask & kept bits names a row's class.
-- People in several tuples have a number, and count once.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate,
    UNNEST($2::BIGINT[]) AS b0,
    UNNEST($3::BIGINT[]) AS b1
)
SELECT
  candidate | (w0 & b0) AS k0,
  w1 & b1 AS k1,
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
  w1 & b1 AS k1,
  1 AS kind,
  column_number,
  value,
  SUM(people)::BIGINT AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM "masks_1_values", candidates
GROUP BY ALL
UNION ALL
SELECT
  candidate | (w0 & b0) AS k0,
  w1 & b1 AS k1,
  2 AS kind,
  0 AS column_number,
  0 AS value,
  SUM(people)::BIGINT + COUNT(DISTINCT mover) AS people,
  0::BIGINT AS n_rows
FROM "masks_1_population", candidates
WHERE (none0 & b0) = 0
    AND (pair0 & b0 & (b0 << 1)) = 0
    AND (none1 & b1) = 0
    AND (pair1 & b1 & (((b1 & 4611686018427387903) << 1) | (b0 >> 52))) = 0
GROUP BY ALL
