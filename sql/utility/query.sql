-- reads:  a table, or the reconstruction of its release
-- yields: the first two rows of a given SELECT, which calls the table data
-- Two scopes, because the table itself may read another table called data.
WITH {{ rows | identifier }} AS ({{ relation }})
SELECT * FROM (
WITH "data" AS (SELECT * FROM {{ rows | identifier }})
SELECT * FROM (
{{ query | sql }}
) AS answer
) AS answer LIMIT 2
