-- reads:  a staged table with a column of pseudonyms
-- yields: one row: distinct pseudonyms; if the original values are known, distinct values and
--         distinct pairs of both; and rows whose pseudonym has another form or is missing
SELECT
  COUNT(DISTINCT p) AS n_pseudonyms,
  COUNT(DISTINCT v) AS n_values,
  COUNT(*) AS n_pairs,
  CAST(COALESCE(SUM(CASE WHEN LENGTH(CAST("p" AS TEXT)) = 32 AND TRANSLATE(CAST("p" AS TEXT), '0123456789abcdef', '') = '' THEN 0 ELSE n END), 0) AS BIGINT) AS n_other
FROM (
  SELECT
    "p" AS p,
    CAST("who" AS TEXT) COLLATE "binary" AS v,
    COUNT(*) AS n
  FROM "hashed"
  GROUP BY 1, 2
) AS counted
