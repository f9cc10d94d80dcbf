-- reads:  a table that may be released
-- yields: one row per list of columns: the number of rows whose combination of values only one
--         row, or only one person, has
SELECT
  0 AS place,
  CAST(COALESCE(SUM(n_rows), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    "age" AS "q0",
    "the ""town"" of" COLLATE "binary" AS "q1",
    "score" + 0.0 AS "q2",
    COUNT(*) AS n_rows
  FROM "visits"
  GROUP BY 1, 2, 3
  HAVING MIN("who") = MAX("who")
) AS alone
