-- reads:  a population
-- yields: one row: its people
SELECT COUNT(DISTINCT "who") AS n_people
FROM "visits"
