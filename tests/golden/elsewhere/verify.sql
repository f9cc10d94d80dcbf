WITH "placed" /* what is counted of every row, and the intervals of declared ranges */ AS (
  SELECT
    "age" COLLATE "C" AS "age",
    "town" COLLATE "C" AS "town",
    "year" COLLATE "C" AS "year",
    "ill" AS "ill"
  FROM "people_anon"
)
SELECT
  "age" COLLATE "C" AS "age",
  "town" COLLATE "C" AS "town",
  "year" COLLATE "C" AS "year",
  "ill" AS "ill",
  COUNT(*) AS "sqlanon_rows"
FROM "placed"
GROUP BY
  "age" COLLATE "C",
  "town" COLLATE "C",
  "year" COLLATE "C",
  "ill";
