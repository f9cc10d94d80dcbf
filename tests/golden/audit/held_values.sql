-- reads:  a released table, or one that is to be released
-- yields: one row per distinct value of one column, or pair of values of two columns: its rows,
--         and how many of them are marked as suppressed
SELECT
  "score" + 0.0 AS "v0",
  COUNT(*) AS n_rows,
  0 AS n_marked
FROM "visits"
GROUP BY 1
