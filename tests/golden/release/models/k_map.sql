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
), "population" /* one row per row of the population, by its class */ AS (
  SELECT
    CASE
      WHEN "population"."age" >= 0 AND "population"."age" < 25
      THEN '[0, 25)'
      WHEN "population"."age" >= 25 AND "population"."age" < 60
      THEN '[25, 60)'
      WHEN "population"."age" >= 60 AND "population"."age" <= 90
      THEN '[60, 90]'
      ELSE '(not in the scheme)'
    END AS "age",
    "population"."person" AS "person"
  FROM "everybody" AS "population"
  WHERE
    "population"."age" >= 0 AND "population"."age" <= 90
), "population_counts" /* the people of the population who fit each class */ AS (
  SELECT
    "classes"."class",
    COUNT(DISTINCT "population"."person") AS "people"
  FROM "population"
  JOIN "classes"
    ON "population"."age" COLLATE "binary" = "classes"."age"
  GROUP BY
    1
), "unsafe_classes" /* the classes that fall short */ AS (
  SELECT
    "classes"."age",
    TRUE AS "is_unsafe"
  FROM "classes"
  LEFT JOIN "population_counts"
    ON "population_counts"."class" = "classes"."class"
  WHERE
    "classes"."people" < 2 OR COALESCE("population_counts"."people", 0) < 2
)
SELECT
  "generalized"."age",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "binary" = "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2;
