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
    UNNEST(CAST($2 AS BIGINT[])) AS "b0"
)
SELECT
  "candidate" | ("w0" & "b0") AS "k0",
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
  1 AS kind,
  column_number,
  value,
  CAST(SUM("people") AS BIGINT) AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM "masks_1_values", candidates
GROUP BY ALL
