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
    "source"."disease" AS "disease",
    "source"."salary" AS "salary"
  FROM "people" AS "source"
), "classes" AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "binary") AS "class"
  FROM "generalized"
  GROUP BY
    1
), "members" AS (
  SELECT
    "classes"."class",
    "generalized"."disease" COLLATE "binary" AS "disease",
    "generalized"."salary"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "classes"."age"
), "disease_counts" AS (
  SELECT
    "class",
    "disease" AS "value",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (PARTITION BY "class" ORDER BY COUNT(*) DESC) AS "rank"
  FROM "members"
  GROUP BY
    1,
    2
), "disease_measures" AS (
  SELECT
    "disease_counts"."class",
    MAX("disease_counts"."people") AS "most",
    SUM(CASE WHEN "disease_counts"."rank" >= 2 THEN "disease_counts"."people" END) AS "from_2"
  FROM "disease_counts"
  GROUP BY
    1
), "salary_counts" AS (
  SELECT
    "class",
    "salary" AS "value",
    COUNT(*) AS "people"
  FROM "members"
  GROUP BY
    1,
    2
), "salary_source" AS (
  SELECT
    "salary" AS "value",
    COUNT(*) AS "people",
    SUM(COUNT(*)) OVER () AS "total",
    COUNT(*) OVER () AS "values"
  FROM "generalized"
  GROUP BY
    1
), "salary_measures" AS (
  SELECT
    "salary_counts"."class",
    SUM("salary_counts"."people") AS "total"
  FROM "salary_counts"
  GROUP BY
    1
), "salary_steps" AS (
  SELECT
    "salary_measures"."class",
    SUM(
      COALESCE("salary_counts"."people", 0) * "salary_source"."total" - "salary_measures"."total" * "salary_source"."people"
    ) OVER (
      PARTITION BY "salary_measures"."class"
      ORDER BY "salary_source"."value" IS NULL, "salary_source"."value"
    ) AS "moved",
    "salary_measures"."total" * "salary_source"."total" * GREATEST("salary_source"."values" - 1, 1) AS "whole"
  FROM "salary_measures"
  CROSS JOIN "salary_source"
  LEFT JOIN "salary_counts"
    ON "salary_counts"."class" = "salary_measures"."class"
    AND "salary_counts"."value" IS NOT DISTINCT FROM "salary_source"."value"
), "salary_order" AS (
  SELECT
    "salary_steps"."class",
    CAST(SUM(ABS("salary_steps"."moved")) AS DOUBLE) / MAX("salary_steps"."whole") AS "distance"
  FROM "salary_steps"
  GROUP BY
    1
), "unsafe_classes" AS (
  SELECT
    "classes"."age",
    TRUE AS "is_unsafe"
  FROM "classes"
  LEFT JOIN "disease_measures"
    ON "disease_measures"."class" = "classes"."class"
  LEFT JOIN "salary_order"
    ON "salary_order"."class" = "classes"."class"
  WHERE
    "classes"."people" < 2
    OR "disease_measures"."from_2" IS NULL
    OR CAST(CAST("disease_measures"."most" AS DOUBLE) / "disease_measures"."from_2" AS DECIMAL(38, 9)) >= 1.5
    OR CAST("salary_order"."distance" AS DECIMAL(38, 9)) > 0.2
)
SELECT
  "generalized"."age",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2;
