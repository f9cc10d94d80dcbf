-- reads:  a table, or the reconstruction of its release
-- yields: the first two rows of a given SELECT, which calls the table data
-- Two scopes, because the table itself may read another table called data.
WITH "rows" AS (SELECT 30 AS age, 'F' AS sex)
SELECT * FROM (
WITH "data" AS (SELECT * FROM "rows")
SELECT * FROM (
SELECT AVG("age") FROM "data" WHERE "sex" = 'F' /* women */
) AS answer
) AS answer LIMIT 2
