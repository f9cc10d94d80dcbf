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
    "source"."disease" AS "disease"
  FROM "people" AS "source"
), "classes" /* every class with its people and a number */ AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "binary") AS "class"
  FROM "generalized"
  GROUP BY
    1
), "members" /* every row as the number of its class, with its person and its sensitive values */ AS (
  SELECT
    "classes"."class",
    "generalized"."disease" COLLATE "binary" AS "disease"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "binary" = "classes"."age"
), "disease_counts" /* the people of each class by value */ AS (
  SELECT
    "class",
    "disease" AS "value",
    COUNT(*) AS "people",
    SUM(COUNT(*)) OVER (PARTITION BY "class") AS "total"
  FROM "members"
  GROUP BY
    1,
    2
), "disease_source" /* the people of the source by value */ AS (
  SELECT
    "disease" COLLATE "binary" AS "value",
    COUNT(*) AS "people",
    SUM(COUNT(*)) OVER () AS "total"
  FROM "generalized"
  GROUP BY
    1
), "disease_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "disease_counts"."class",
    MAX(
      CAST("disease_counts"."people" * "disease_source"."total" - "disease_counts"."total" * "disease_source"."people" AS DOUBLE) / (
        "disease_counts"."total" * "disease_source"."people"
      )
    ) AS "gain"
  FROM "disease_counts"
  JOIN "disease_source"
    ON COALESCE("disease_counts"."value", '') COLLATE "binary" = COALESCE("disease_source"."value", '')
    AND CASE WHEN "disease_counts"."value" IS NULL THEN 1 ELSE 0 END = CASE WHEN "disease_source"."value" IS NULL THEN 1 ELSE 0 END
  GROUP BY
    1
), "unsafe_classes" /* the classes that fall short */ AS (
  SELECT
    "classes"."age",
    TRUE AS "is_unsafe"
  FROM "classes"
  LEFT JOIN "disease_measures"
    ON "disease_measures"."class" = "classes"."class"
  WHERE
    "classes"."people" < 2 OR "disease_measures"."gain" > 1.000000001
)
SELECT
  CASE
    WHEN "unsafe_classes"."is_unsafe" IS NOT NULL
    THEN '(unsafe)'
    ELSE "generalized"."age"
  END AS "age",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "binary" = "unsafe_classes"."age"
ORDER BY
  1,
  2;
