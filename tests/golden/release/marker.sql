WITH "generalized" /* one row per row of the source, as it is released */ AS (
  SELECT
    CASE
      WHEN "source"."age" >= 0 AND "source"."age" < 25
      THEN '[0, 25)'
      WHEN "source"."age" >= 25 AND "source"."age" < 60
      THEN '[25, 60)'
      WHEN "source"."age" >= 60 AND "source"."age" <= 90
      THEN '[60, 90]'
      ELSE '(not in the scheme)'
    END AS "age",
    CASE
      WHEN "source"."sex" COLLATE "binary" = 'F'
      THEN 'F'
      WHEN "source"."sex" COLLATE "binary" = 'M'
      THEN 'M'
      ELSE '(not in the scheme)'
    END AS "sex",
    "source"."disease" AS "disease"
  FROM "people" AS "source"
), "counted" /* every row with the number of rows in its class */ AS (
  SELECT
    "generalized"."age",
    "generalized"."sex",
    "generalized"."disease",
    COUNT(*) OVER (
      PARTITION BY "generalized"."age" COLLATE "binary", "generalized"."sex" COLLATE "binary"
    ) AS "people"
  FROM "generalized"
)
SELECT
  CASE WHEN "counted"."people" < 2 THEN '(too few)' ELSE "counted"."age" END AS "age",
  CASE WHEN "counted"."people" < 2 THEN '(too few)' ELSE "counted"."sex" END AS "sex",
  "counted"."disease"
FROM "counted"
ORDER BY
  1,
  2,
  3;
