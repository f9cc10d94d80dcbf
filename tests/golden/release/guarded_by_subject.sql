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
    "source"."sex" AS "sex",
    "source"."disease" AS "disease",
    "source"."person" AS "subject"
  FROM "people" AS "source"
  WHERE
    (
      "source"."age" >= 0 AND "source"."age" <= 90
    )
    AND "source"."sex" COLLATE "binary" IN ('F', 'M')
), "unsafe_classes" /* the classes of fewer than k people */ AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    "sex" COLLATE "binary" AS "sex",
    TRUE AS "is_unsafe"
  FROM "generalized"
  GROUP BY
    1,
    2
  HAVING
    COUNT(DISTINCT "subject") < 2
), "counted" /* every row with the number of rows of its class that met an unsafe class: none or all */ AS (
  SELECT
    "generalized"."age",
    "generalized"."sex",
    "generalized"."disease",
    COUNT("unsafe_classes"."is_unsafe") OVER (
      PARTITION BY "generalized"."age" COLLATE "binary", "generalized"."sex" COLLATE "binary"
    ) AS "unsafe_rows"
  FROM "generalized"
  LEFT JOIN "unsafe_classes"
    ON "generalized"."age" COLLATE "binary" = "unsafe_classes"."age"
    AND COALESCE("generalized"."sex", '') COLLATE "binary" = COALESCE("unsafe_classes"."sex", '')
    AND CASE WHEN "generalized"."sex" IS NULL THEN 1 ELSE 0 END = CASE WHEN "unsafe_classes"."sex" IS NULL THEN 1 ELSE 0 END
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
