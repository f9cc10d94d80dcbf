WITH "generalized" AS (
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
), "small_classes" AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    "sex" COLLATE "binary" AS "sex",
    TRUE AS "is_small"
  FROM "generalized"
  GROUP BY
    1,
    2
  HAVING
    COUNT(*) < 2
)
SELECT
  CASE WHEN "small_classes"."is_small" THEN '(too few)' ELSE "generalized"."age" END AS "age",
  CASE WHEN "small_classes"."is_small" THEN '(too few)' ELSE "generalized"."sex" END AS "sex",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "small_classes"
  ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."age"
  AND "generalized"."sex" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."sex"
ORDER BY
  1,
  2,
  3;
