-- reads:  the source
-- yields: the values of one column outside its declared range, most frequent first
SELECT
  CAST("age" AS TEXT) AS value,
  COUNT(*) AS n_rows
FROM "people"
WHERE CASE WHEN "age" IS NULL THEN NULL WHEN "age" < 0 OR "age" > 24 THEN -1 WHEN "age" >= 16 THEN 2 ELSE (CAST("age" AS BIGINT) - 0) // 8 END = -1
GROUP BY 1
ORDER BY 2 DESC, 1
