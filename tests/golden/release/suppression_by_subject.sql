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
    "source"."person" AS "subject"
  FROM "people" AS "source"
), "unsafe_classes" /* the classes of fewer than k people */ AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    TRUE AS "is_unsafe"
  FROM "generalized"
  GROUP BY
    1
  HAVING
    COUNT(DISTINCT "subject") < 2
)
SELECT
  "generalized"."age"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "binary" = "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1;
