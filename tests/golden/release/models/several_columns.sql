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
    "source"."salary" AS "salary"
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
    "generalized"."disease" COLLATE "binary" AS "disease",
    "generalized"."salary"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "binary" = "classes"."age"
), "disease_counts" /* the people of each class by value */ AS (
  SELECT
    "class",
    "disease" AS "value",
    COUNT(*) AS "people"
  FROM "members"
  GROUP BY
    1,
    2
), "disease_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "disease_counts"."class",
    COUNT(*) AS "values"
  FROM "disease_counts"
  GROUP BY
    1
), "salary_counts" /* the people of each class by value */ AS (
  SELECT
    "class",
    "salary" AS "value",
    COUNT(*) AS "people"
  FROM "members"
  GROUP BY
    1,
    2
), "salary_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "salary_counts"."class",
    MAX("salary_counts"."people") AS "most"
  FROM "salary_counts"
  GROUP BY
    1
), "unsafe_classes" /* the classes that fall short */ AS (
  SELECT
    "classes"."age",
    TRUE AS "is_unsafe"
  FROM "classes"
  LEFT JOIN "disease_measures"
    ON "disease_measures"."class" = "classes"."class"
  LEFT JOIN "salary_measures"
    ON "salary_measures"."class" = "classes"."class"
  WHERE
    "classes"."people" < 2
    OR "disease_measures"."values" < 2
    OR CAST("salary_measures"."most" AS DOUBLE) / "classes"."people" > 0.400000001
)
SELECT
  "generalized"."age",
  "generalized"."disease",
  "generalized"."salary"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "binary" = "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2,
  3;
