-- reads:  a staged table
-- yields: one row: the rows that are marked as suppressed, and their people
SELECT
  COUNT(*) AS n_rows,
  COUNT(*) AS n_people
FROM "visits"
WHERE "the ""town"" of" COLLATE "binary" IS NOT DISTINCT FROM 'rome'
