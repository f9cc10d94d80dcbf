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
    "source"."sex" AS "sex",
    "source"."disease" AS "disease",
    "source"."person" AS "subject"
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
    COUNT(DISTINCT "subject") < 2
), "counted" AS (
  SELECT
    "generalized"."age",
    "generalized"."sex",
    "generalized"."disease",
    COUNT("small_classes"."is_small") OVER (
      PARTITION BY "generalized"."age" COLLATE "binary", "generalized"."sex" COLLATE "binary"
    ) AS "unsafe_rows"
  FROM "generalized"
  LEFT JOIN "small_classes"
    ON "generalized"."age" COLLATE "binary" = "small_classes"."age"
    AND COALESCE("generalized"."sex", '') COLLATE "binary" = COALESCE("small_classes"."sex", '')
    AND CASE WHEN "generalized"."sex" IS NULL THEN 1 ELSE 0 END = CASE WHEN "small_classes"."sex" IS NULL THEN 1 ELSE 0 END
)
SELECT
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."age" END AS "age",
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."sex" END AS "sex",
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."disease" END AS "disease"
FROM "counted"
WHERE
  "counted"."unsafe_rows" = 0
ORDER BY
  1,
  2,
  3;
