-- reads:  a table, as a whole
-- yields: one row per distinct value of one column, as text: the people with that value; NULL is
--         a value
SELECT
  CAST("v" AS TEXT) AS t,
  n
FROM (
  SELECT
    "ill" COLLATE "binary" AS v,
    COUNT(DISTINCT "who") AS n
  FROM "visits"
  GROUP BY 1
) AS counted
