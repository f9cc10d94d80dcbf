BEGIN ISOLATION LEVEL REPEATABLE READ;

SELECT
  COUNT(*) AS "n_rows",
  COUNT(*) AS "n_people",
  COUNT(*) - COUNT(CASE WHEN "source"."age" >= 20 AND "source"."age" <= 30 THEN 1 END) AS "age",
  COUNT(*) - COUNT(CASE WHEN "source"."town" COLLATE "C" IN ('a', 'b', 'c') THEN 1 END) AS "town"
FROM "ward"."public"."people" AS "source";

CREATE TEMPORARY TABLE "pg_temp"."sqlanon_stage" AS
WITH "generalized" /* one row per row of the source, as it is released */ AS (
  SELECT
    CASE
      WHEN "source"."age" >= 20 AND "source"."age" <= 30
      THEN '[20, 30]'
      ELSE '(not in the scheme)'
    END AS "age",
    "source"."town" AS "town",
    "source"."ill" AS "ill"
  FROM "ward"."public"."people" AS "source"
  WHERE
    (
      "source"."age" >= 20 AND "source"."age" <= 30
    )
    AND "source"."town" COLLATE "C" IN ('a', 'b', 'c')
), "classes" /* every class with its people and a number */ AS (
  SELECT
    "age" COLLATE "C" AS "age",
    "town" COLLATE "C" AS "town",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C", "town" COLLATE "C") AS "class"
  FROM "generalized"
  GROUP BY
    1,
    2
), "members" /* every row as the number of its class, with its person and its sensitive values */ AS (
  SELECT
    "classes"."class",
    "generalized"."ill" COLLATE "C" AS "ill"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "C" = "classes"."age"
    AND COALESCE("generalized"."town", '') COLLATE "C" = COALESCE("classes"."town", '')
    AND CASE WHEN "generalized"."town" IS NULL THEN 1 ELSE 0 END = CASE WHEN "classes"."town" IS NULL THEN 1 ELSE 0 END
), "ill_counts" /* the people of each class by value */ AS (
  SELECT
    "class",
    "ill" AS "value",
    COUNT(*) AS "people"
  FROM "members"
  GROUP BY
    1,
    2
), "ill_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "ill_counts"."class",
    COUNT(*) AS "values"
  FROM "ill_counts"
  GROUP BY
    1
), "unsafe_classes" /* the classes that fall short */ AS (
  SELECT
    "classes"."age",
    "classes"."town",
    TRUE AS "is_unsafe"
  FROM "classes"
  LEFT JOIN "ill_measures"
    ON "ill_measures"."class" = "classes"."class"
  WHERE
    "classes"."people" < 2 OR "ill_measures"."values" < 2
), "counted" /* every row with the number of rows of its class that met an unsafe class: none or all */ AS (
  SELECT
    "generalized"."age",
    "generalized"."town",
    "generalized"."ill",
    COUNT("unsafe_classes"."is_unsafe") OVER (PARTITION BY "generalized"."age" COLLATE "C", "generalized"."town" COLLATE "C") AS "unsafe_rows"
  FROM "generalized"
  LEFT JOIN "unsafe_classes"
    ON "generalized"."age" COLLATE "C" = "unsafe_classes"."age"
    AND COALESCE("generalized"."town", '') COLLATE "C" = COALESCE("unsafe_classes"."town", '')
    AND CASE WHEN "generalized"."town" IS NULL THEN 1 ELSE 0 END = CASE WHEN "unsafe_classes"."town" IS NULL THEN 1 ELSE 0 END
)
SELECT
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."age" END AS "age",
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."town" END AS "town",
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."ill" END AS "ill"
FROM "counted"
WHERE
  "counted"."unsafe_rows" = 0
ORDER BY
  1,
  2,
  3;

CREATE VIEW "ward"."public"."anon" WITH (security_barrier) AS
WITH "generalized" /* one row per row of the source, as it is released */ AS (
  SELECT
    CASE
      WHEN "source"."age" >= 20 AND "source"."age" <= 30
      THEN '[20, 30]'
      ELSE '(not in the scheme)'
    END AS "age",
    "source"."town" AS "town",
    "source"."ill" AS "ill"
  FROM "ward"."public"."people" AS "source"
  WHERE
    (
      "source"."age" >= 20 AND "source"."age" <= 30
    )
    AND "source"."town" COLLATE "C" IN ('a', 'b', 'c')
), "classes" /* every class with its people and a number */ AS (
  SELECT
    "age" COLLATE "C" AS "age",
    "town" COLLATE "C" AS "town",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C", "town" COLLATE "C") AS "class"
  FROM "generalized"
  GROUP BY
    1,
    2
), "members" /* every row as the number of its class, with its person and its sensitive values */ AS (
  SELECT
    "classes"."class",
    "generalized"."ill" COLLATE "C" AS "ill"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "C" = "classes"."age"
    AND COALESCE("generalized"."town", '') COLLATE "C" = COALESCE("classes"."town", '')
    AND CASE WHEN "generalized"."town" IS NULL THEN 1 ELSE 0 END = CASE WHEN "classes"."town" IS NULL THEN 1 ELSE 0 END
), "ill_counts" /* the people of each class by value */ AS (
  SELECT
    "class",
    "ill" AS "value",
    COUNT(*) AS "people"
  FROM "members"
  GROUP BY
    1,
    2
), "ill_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "ill_counts"."class",
    COUNT(*) AS "values"
  FROM "ill_counts"
  GROUP BY
    1
), "unsafe_classes" /* the classes that fall short */ AS (
  SELECT
    "classes"."age",
    "classes"."town",
    TRUE AS "is_unsafe"
  FROM "classes"
  LEFT JOIN "ill_measures"
    ON "ill_measures"."class" = "classes"."class"
  WHERE
    "classes"."people" < 2 OR "ill_measures"."values" < 2
), "counted" /* every row with the number of rows of its class that met an unsafe class: none or all */ AS (
  SELECT
    "generalized"."age",
    "generalized"."town",
    "generalized"."ill",
    COUNT("unsafe_classes"."is_unsafe") OVER (PARTITION BY "generalized"."age" COLLATE "C", "generalized"."town" COLLATE "C") AS "unsafe_rows"
  FROM "generalized"
  LEFT JOIN "unsafe_classes"
    ON "generalized"."age" COLLATE "C" = "unsafe_classes"."age"
    AND COALESCE("generalized"."town", '') COLLATE "C" = COALESCE("unsafe_classes"."town", '')
    AND CASE WHEN "generalized"."town" IS NULL THEN 1 ELSE 0 END = CASE WHEN "unsafe_classes"."town" IS NULL THEN 1 ELSE 0 END
)
SELECT
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."age" END AS "age",
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."town" END AS "town",
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."ill" END AS "ill"
FROM "counted"
WHERE
  "counted"."unsafe_rows" = 0
ORDER BY
  1,
  2,
  3;

DROP TABLE "pg_temp"."sqlanon_stage";

COMMIT;
