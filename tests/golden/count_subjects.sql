-- reads:  the source
-- yields: one row: the number of people, and of rows without a subject
SELECT
  COUNT(DISTINCT "who") AS n_people,
  COUNT(*) - COUNT("who") AS n_unnamed
FROM "people"
