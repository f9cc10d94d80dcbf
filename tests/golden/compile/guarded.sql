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
    "source"."sex" AS "sex"
  FROM "people" AS "source"
  WHERE
    (
      "source"."age" >= 0 AND "source"."age" <= 90
    )
    AND "source"."sex" COLLATE "binary" IN ('F', 'M')
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
  "generalized"."age",
  "generalized"."sex"
FROM "generalized"
LEFT JOIN "small_classes"
  ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."age"
  AND "generalized"."sex" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."sex"
WHERE
  "small_classes"."is_small" IS NULL
ORDER BY
  1,
  2;
