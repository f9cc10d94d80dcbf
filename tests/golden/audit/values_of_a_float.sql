-- reads:  a table, as a whole
-- yields: one row per distinct value of one column, as text: the people with that value; NULL is
--         a value
SELECT
  CASE WHEN ISNAN("v") THEN 'nan' ELSE CAST(CAST("v" + 0.0 AS DOUBLE) AS TEXT) END AS t,
  n
FROM (
  SELECT
    "score" + 0.0 AS v,
    COUNT(*) AS n
  FROM "visits"
  GROUP BY 1
) AS counted
