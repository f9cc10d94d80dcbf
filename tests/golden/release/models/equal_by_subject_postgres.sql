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
    "source"."disease" AS "disease",
    "source"."person" AS "subject"
  FROM "people" AS "source"
), "classes" /* every class with its people and a number */ AS (
  SELECT
    "age" COLLATE "C" AS "age",
    COUNT(DISTINCT "subject") AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C") AS "class"
  FROM "generalized"
  GROUP BY
    1
), "members" /* every row as the number of its class, with its person and its sensitive values */ AS (
  SELECT
    "classes"."class",
    "generalized"."subject",
    "generalized"."disease" COLLATE "C" AS "disease"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "C" = "classes"."age"
  WHERE
    "generalized"."subject" IS NOT NULL
), "disease_counts" /* the people of each class by value */ AS (
  SELECT
    "class",
    "disease" AS "value",
    COUNT(DISTINCT "subject") AS "people",
    SUM(COUNT(DISTINCT "subject")) OVER (PARTITION BY "class") AS "total"
  FROM "members"
  GROUP BY
    1,
    2
), "disease_source" /* the people of the source by value */ AS (
  SELECT
    "disease" COLLATE "C" AS "value",
    COUNT(DISTINCT "subject") AS "people",
    SUM(COUNT(DISTINCT "subject")) OVER () AS "total"
  FROM "generalized"
  WHERE
    "subject" IS NOT NULL
  GROUP BY
    1
), "disease_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "disease_counts"."class",
    CAST(SUM(
      GREATEST(
        "disease_counts"."people" * "disease_source"."total" - "disease_counts"."total" * "disease_source"."people",
        0
      )
    ) AS DOUBLE PRECISION) / MAX("disease_counts"."total" * "disease_source"."total") AS "distance"
  FROM "disease_counts"
  JOIN "disease_source"
    ON COALESCE("disease_counts"."value", '') COLLATE "C" = COALESCE("disease_source"."value", '')
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
    "classes"."people" < 2 OR "disease_measures"."distance" > 0.125000001
)
SELECT
  "generalized"."age",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "C" = "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2;
