-- reads:  the source
-- yields: one row: how many people there are, and how many rows do not say whose they are
SELECT
  COUNT(DISTINCT "who") AS n_people,
  COUNT(*) - COUNT("who") AS n_unnamed
FROM "people"
