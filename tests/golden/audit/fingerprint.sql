-- reads:  a table
-- yields: one row: its rows, and the sums of both halves of their hashes. A row is hashed as
--         the length and the text of every value; NULL has the length -1
SELECT
  COUNT(*) AS n_rows,
  CAST(SUM(CAST('0x' || SUBSTRING("h", 1, 16) AS UBIGINT)) AS TEXT) AS upper_sum,
  CAST(SUM(CAST('0x' || SUBSTRING("h", 17, 16) AS UBIGINT)) AS TEXT) AS lower_sum
FROM (
  SELECT
    MD5(CONCAT(CAST(COALESCE(LENGTH("t0"), -1) AS TEXT), ':', COALESCE("t0", ''), CAST(COALESCE(LENGTH("t1"), -1) AS TEXT), ':', COALESCE("t1", ''))) AS h
  FROM (
    SELECT
      CAST("age" AS TEXT) AS t0,
      CASE WHEN ISNAN("score") THEN 'nan' ELSE CAST("score" + 0.0 AS TEXT) END AS t1
    FROM "visits"
  ) AS texts
) AS hashed
