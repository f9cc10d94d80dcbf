-- reads:  "masks_1", one row per atom tuple and mover: its masks w0, w1, …, people
--         and rows; "masks_1_values": the same for each value of each sensitive column
-- yields: the classes of the candidate schemes by their keys: with kind = 0 a class, its people
--         and rows; with kind = 1 a value in it, the people with that value and their rows
-- params: $1 the candidates' numbers, shifted to their bits of word 0; then their kept bits, one
--         list per word
-- A tuple's mask & a candidate's kept bits names the tuple's class. People in several tuples, the
-- movers, have a number and count once.
WITH candidates AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "candidate",
    UNNEST(CAST($2 AS BIGINT[])) AS "b0",
    UNNEST(CAST($3 AS BIGINT[])) AS "b1"
)
SELECT
  "candidate" | ("w0" & "b0") AS "k0",
  "w1" & "b1" AS "k1",
  0 AS kind,
  0 AS column_number,
  0 AS value,
  CAST(SUM("people") AS BIGINT) AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM "masks_1", candidates
GROUP BY ALL
UNION ALL
SELECT
  "candidate" | ("w0" & "b0") AS "k0",
  "w1" & "b1" AS "k1",
  1 AS kind,
  column_number,
  value,
  CAST(SUM("people") AS BIGINT) AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM "masks_1_values", candidates
GROUP BY ALL
UNION ALL
-- reads:  "masks_1_population": the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source
-- yields: with kind = 2 the people of the population in each class of a candidate scheme, even in
--         classes without a row
SELECT
  "candidate" | ("w0" & "b0") AS "k0",
  "w1" & "b1" AS "k1",
  2 AS kind,
  0 AS column_number,
  0 AS value,
  CAST(SUM("people") AS BIGINT) + COUNT(DISTINCT "mover") AS people,
  0::BIGINT AS n_rows
FROM "masks_1_population", candidates
WHERE ("none0" & "b0") = 0 AND ("pair0" & "b0" & ("b0" << 1)) = 0 AND ("none1" & "b1") = 0 AND ("pair1" & "b1" & ((("b1" & 4611686018427387903) << 1) | ("b0" >> 52))) = 0
GROUP BY ALL
