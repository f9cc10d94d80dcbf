-- reads:  the audited table
-- yields: one row: the number of rows, and of rows without a subject
SELECT
  COUNT(*) AS n_rows,
  COUNT(*) - COUNT("who") AS n_unnamed
FROM "visits"
