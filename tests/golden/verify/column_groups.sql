-- reads:  a table that may be released
-- yields: one row: how many values one of its columns has, or pairs of values, and the rows of
--         the most frequent one
SELECT
  COUNT(*) AS n_groups,
  CAST(COALESCE(MAX(n_rows), 0) AS BIGINT) AS n_largest,
  CAST(COALESCE(SUM(n_rows), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    "the ""town"" of" COLLATE "binary" AS q0,
    "score" + 0.0 AS q1,
    COUNT(*) AS n_rows
  FROM "visits"
  GROUP BY 1, 2
) AS counted
