-- reads:  a released table, or one that is to be released
-- yields: one row per distinct value of one column, or pair of values of two columns: its rows,
--         and how many of them are marked as suppressed
SELECT
  "the ""town"" of" COLLATE "binary" AS "v0",
  "age" AS "v1",
  COUNT(*) AS n_rows,
  CAST(COALESCE(SUM(CASE WHEN "the ""town"" of" COLLATE "binary" IS NOT DISTINCT FROM 'rome' THEN 1 ELSE 0 END), 0) AS BIGINT) AS n_marked
FROM "visits"
GROUP BY 1, 2
