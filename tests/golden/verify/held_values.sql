-- reads:  a staged release
-- yields: one row per distinct value of one of its columns: rows
SELECT
  "score" + 0.0 AS v,
  COUNT(*) AS n_rows
FROM "visits"
GROUP BY 1
