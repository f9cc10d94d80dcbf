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
    "age" COLLATE "C" AS "age",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C") AS "class"
  FROM "generalized"
  GROUP BY
    1
), "members" AS (
  SELECT
    "classes"."class",
    "generalized"."disease" COLLATE "C" AS "disease",
    "generalized"."salary"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "C" IS NOT DISTINCT FROM "classes"."age"
), "disease_counts" AS (
  SELECT
    "class",
    "disease" AS "value",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (PARTITION BY "class" ORDER BY COUNT(*) DESC NULLS LAST) AS "rank"
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
    SUM(COUNT(*)) OVER () AS "total"
  FROM "generalized"
  GROUP BY
    1
), "salary_places" AS (
  SELECT
    "salary_source"."value",
    "salary_source"."total",
    ROW_NUMBER() OVER (ORDER BY "salary_source"."value" IS NULL, "salary_source"."value") AS "place",
    SUM("salary_source"."people") OVER (ORDER BY "salary_source"."value" IS NULL, "salary_source"."value") - "salary_source"."people" AS "before"
  FROM "salary_source"
), "salary_line" AS (
  SELECT
    "salary_places"."value",
    "salary_places"."total",
    "salary_places"."place",
    "salary_places"."before",
    SUM("salary_places"."before") OVER (ORDER BY "salary_places"."place" ASC) AS "area"
  FROM "salary_places"
), "salary_held" AS (
  SELECT
    "salary_counts"."class",
    "salary_line"."total",
    "salary_line"."place",
    "salary_line"."area",
    "salary_counts"."people",
    DIV(
      SUM("salary_counts"."people") OVER (PARTITION BY "salary_counts"."class" ORDER BY "salary_line"."place" ASC) * "salary_line"."total",
      SUM("salary_counts"."people") OVER (PARTITION BY "salary_counts"."class")
    ) AS "mark"
  FROM "salary_counts"
  JOIN "salary_line"
    ON "salary_counts"."value" IS NOT DISTINCT FROM "salary_line"."value"
), "salary_marks" AS (
  SELECT
    NULL AS "class",
    "salary_line"."total",
    "salary_line"."before" AS "mark",
    "salary_line"."place",
    "salary_line"."area"
  FROM "salary_line"
  UNION ALL
  SELECT
    "salary_held"."class",
    "salary_held"."total",
    "salary_held"."mark",
    NULL,
    NULL
  FROM "salary_held"
), "salary_turns" AS (
  SELECT
    "salary_marks"."class",
    "salary_marks"."total",
    MAX("salary_marks"."place") OVER (ORDER BY "salary_marks"."mark" ASC) AS "place",
    MAX("salary_marks"."area") OVER (ORDER BY "salary_marks"."mark" ASC) AS "area"
  FROM "salary_marks"
), "salary_stops" AS (
  SELECT
    "salary_held"."class",
    "salary_held"."total",
    "salary_held"."place",
    "salary_held"."area",
    "salary_held"."people"
  FROM "salary_held"
  UNION ALL
  SELECT
    "salary_turns"."class",
    "salary_turns"."total",
    "salary_turns"."place",
    "salary_turns"."area",
    0
  FROM "salary_turns"
  WHERE
    "salary_turns"."class" IS NOT NULL
), "salary_steps" AS (
  SELECT
    "salary_stops"."class",
    "salary_stops"."total",
    "salary_stops"."place",
    "salary_stops"."area",
    SUM(SUM("salary_stops"."people")) OVER (PARTITION BY "salary_stops"."class") AS "class_total",
    SUM(SUM("salary_stops"."people")) OVER (PARTITION BY "salary_stops"."class" ORDER BY "salary_stops"."place" ASC) AS "held",
    LEAD("salary_stops"."place") OVER (PARTITION BY "salary_stops"."class" ORDER BY "salary_stops"."place" ASC) AS "next_place",
    LEAD("salary_stops"."area") OVER (PARTITION BY "salary_stops"."class" ORDER BY "salary_stops"."place" ASC) AS "next_area"
  FROM "salary_stops"
  GROUP BY
    1,
    2,
    3,
    4
), "salary_order" AS (
  SELECT
    "salary_steps"."class",
    CAST(MIN("salary_steps"."class_total" * "salary_steps"."area") + COALESCE(
      SUM(
        ABS(
          "salary_steps"."held" * "salary_steps"."total" * (
            "salary_steps"."next_place" - "salary_steps"."place"
          ) - "salary_steps"."class_total" * (
            "salary_steps"."next_area" - "salary_steps"."area"
          )
        )
      ),
      0
    ) AS DOUBLE PRECISION) / (
      MAX("salary_steps"."class_total" * "salary_steps"."total") * GREATEST(MAX("salary_steps"."place") - 1, 1)
    ) AS "distance"
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
    OR CAST("disease_measures"."most" AS DOUBLE PRECISION) / "disease_measures"."from_2" >= 1.499999999
    OR "salary_order"."distance" > 0.200000001
)
SELECT
  "generalized"."age",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "C" IS NOT DISTINCT FROM "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2;
