-- counts a table for `source: {histogram: FILE}`; the answer holds the values of people
-- policy 1d821db3925bb815
WITH "placed" /* what is counted of every row, and the intervals of declared ranges */ AS (
  SELECT
    "age" AS "age",
    "town" AS "town",
    "year" AS "year",
    "ill" AS "ill",
    CASE
      WHEN "age" IS NULL
      THEN NULL
      WHEN "age" < 0 OR "age" > 100
      THEN -1
      WHEN "age" < 50
      THEN CASE
        WHEN "age" < 20
        THEN CASE WHEN "age" < 10 THEN 0 ELSE 1 END
        WHEN "age" < 30
        THEN 2
        WHEN "age" < 40
        THEN 3
        ELSE 4
      END
      WHEN "age" < 70
      THEN CASE WHEN "age" < 60 THEN 5 ELSE 6 END
      WHEN "age" < 80
      THEN 7
      WHEN "age" < 90
      THEN 8
      ELSE 9
    END AS "sqlanon_interval_1"
  FROM "sales"."people"
)
SELECT
  MIN("age") AS "age",
  "town" AS "town",
  "year" AS "year",
  "ill" AS "ill",
  COUNT(*) AS "sqlanon_rows"
FROM "placed"
GROUP BY
  "sqlanon_interval_1",
  "town",
  "year",
  "ill";
