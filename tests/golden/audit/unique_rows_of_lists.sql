-- reads:  a table that may be released
-- yields: one row per list of columns: the number of rows whose combination of values only one
--         row, or only one person, has
SELECT
  0 AS place,
  CAST(COALESCE(SUM(n_rows), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    "age" AS "q0",
    COUNT(*) AS n_rows
  FROM "visits"
  GROUP BY 1
  HAVING COUNT(*) = 1
) AS alone
UNION ALL
SELECT
  1 AS place,
  CAST(COALESCE(SUM(n_rows), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    "who" COLLATE "binary" AS "q0",
    "age" AS "q1",
    COUNT(*) AS n_rows
  FROM "visits"
  GROUP BY 1, 2
  HAVING COUNT(*) = 1
) AS alone
