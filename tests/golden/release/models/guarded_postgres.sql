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
  WHERE
    "source"."age" >= 0 AND "source"."age" <= 90
), "classes" /* every class with its people and a number */ AS (
  SELECT
    "age" COLLATE "C" AS "age",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C") AS "class"
  FROM "generalized"
  GROUP BY
    1
), "members" /* every row as the number of its class, with its person and its sensitive values */ AS (
  SELECT
    "classes"."class",
    "generalized"."disease" COLLATE "C" AS "disease"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "C" = "classes"."age"
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
    "source"."disease" COLLATE "C" AS "value",
    COUNT(*) AS "people",
    SUM(COUNT(*)) OVER () AS "total",
    COUNT(*) OVER () AS "values"
  FROM "people" AS "source"
  GROUP BY
    1
), "disease_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "disease_counts"."class",
    EXP(
      LN(CAST(SUM("disease_counts"."people") AS DOUBLE PRECISION)) - CAST(SUM(
        "disease_counts"."people" * LN(CAST("disease_counts"."people" AS DOUBLE PRECISION))
      ) AS DOUBLE PRECISION) / SUM("disease_counts"."people")
    ) AS "perplexity",
    COUNT(*) AS "values",
    MAX("disease_source"."values") AS "source_values",
    MAX(
      ABS(
        LN(
          CAST("disease_counts"."people" * "disease_source"."total" AS DOUBLE PRECISION) / (
            "disease_counts"."total" * "disease_source"."people"
          )
        )
      )
    ) AS "ratio"
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
    "classes"."people" < 2
    OR "disease_measures"."perplexity" < 1.999999999
    OR "disease_measures"."values" < "disease_measures"."source_values"
    OR "disease_measures"."ratio" >= 1.099999999
), "counted" /* every row with the number of rows of its class that met an unsafe class: none or all */ AS (
  SELECT
    "generalized"."age",
    COUNT("unsafe_classes"."is_unsafe") OVER (PARTITION BY "generalized"."age" COLLATE "C") AS "unsafe_rows"
  FROM "generalized"
  LEFT JOIN "unsafe_classes"
    ON "generalized"."age" COLLATE "C" = "unsafe_classes"."age"
)
SELECT
  CASE WHEN "counted"."unsafe_rows" = 0 THEN "counted"."age" END AS "age"
FROM "counted"
WHERE
  "counted"."unsafe_rows" = 0
ORDER BY
  1;
