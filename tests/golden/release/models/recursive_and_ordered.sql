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
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (PARTITION BY "class" ORDER BY COUNT(*) DESC) AS "rank"
  FROM "members"
  GROUP BY
    1,
    2
), "disease_measures" /* what the models of this column need of each class */ AS (
  SELECT
    "disease_counts"."class",
    MAX("disease_counts"."people") AS "most",
    SUM(CASE WHEN "disease_counts"."rank" >= 2 THEN "disease_counts"."people" END) AS "from_2"
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
), "salary_source" /* the people of the source by value */ AS (
  SELECT
    "salary" AS "value",
    COUNT(*) AS "people",
    SUM(COUNT(*)) OVER () AS "total"
  FROM "generalized"
  GROUP BY
    1
), "salary_places" /* the values of the source in order, each with the people before it */ AS (
  SELECT
    "value",
    "total",
    ROW_NUMBER() OVER (ORDER BY "value" IS NULL, "value") AS "place",
    SUM("people") OVER (ORDER BY "value" IS NULL, "value") - "people" AS "before"
  FROM "salary_source"
), "salary_line" /* with the sum of these people up to each value */ AS (
  SELECT
    "value",
    "total",
    "place",
    "before",
    SUM("before") OVER (ORDER BY "place" ASC) AS "area"
  FROM "salary_places"
), "salary_held" /* the values of each class; mark: so many people of the source have the share of the class so far */ AS (
  SELECT
    "salary_counts"."class",
    "salary_line"."total",
    "salary_line"."place",
    "salary_line"."area",
    "salary_counts"."people",
    SUM("salary_counts"."people") OVER (PARTITION BY "salary_counts"."class" ORDER BY "salary_line"."place" ASC) * "salary_line"."total" // SUM("salary_counts"."people") OVER (PARTITION BY "salary_counts"."class") AS "mark"
  FROM "salary_counts"
  JOIN "salary_line"
    ON COALESCE("salary_counts"."value", 0) = COALESCE("salary_line"."value", 0)
    AND CASE WHEN "salary_counts"."value" IS NULL THEN 1 ELSE 0 END = CASE WHEN "salary_line"."value" IS NULL THEN 1 ELSE 0 END
), "salary_marks" /* the places of the source and the marks of the classes, on one scale of people */ AS (
  SELECT
    NULL AS "class",
    "total",
    "before" AS "mark",
    "place",
    "area"
  FROM "salary_line"
  UNION ALL
  SELECT
    "class",
    "total",
    "mark",
    NULL,
    NULL
  FROM "salary_held"
), "salary_turns" /* for every mark the last value that begins there or before */ AS (
  SELECT
    "class",
    "total",
    MAX("place") OVER (ORDER BY "mark" ASC) AS "place",
    MAX("area") OVER (ORDER BY "mark" ASC) AS "area"
  FROM "salary_marks"
), "salary_stops" /* the values and the turns of each class; its last turn is the last place of all */ AS (
  SELECT
    "class",
    "total",
    "place",
    "area",
    "people"
  FROM "salary_held"
  UNION ALL
  SELECT
    "class",
    "total",
    "place",
    "area",
    0
  FROM "salary_turns"
  WHERE
    "class" IS NOT NULL
), "salary_steps" /* with the next stop, and the people of the class so far */ AS (
  SELECT
    "class",
    "total",
    "place",
    "area",
    SUM(SUM("people")) OVER (PARTITION BY "class") AS "class_total",
    SUM(SUM("people")) OVER (PARTITION BY "class" ORDER BY "place" ASC) AS "held",
    LEAD("place") OVER (PARTITION BY "class" ORDER BY "place" ASC) AS "next_place",
    LEAD("area") OVER (PARTITION BY "class" ORDER BY "place" ASC) AS "next_area"
  FROM "salary_stops"
  GROUP BY
    1,
    2,
    3,
    4
), "salary_order" /* how far each class is from the source */ AS (
  SELECT
    "class",
    CAST(MIN("class_total" * "area") + COALESCE(
      SUM(
        ABS(
          "held" * "total" * (
            "next_place" - "place"
          ) - "class_total" * (
            "next_area" - "area"
          )
        )
      ),
      0
    ) AS DOUBLE) / (
      MAX("class_total" * "total") * GREATEST(MAX("place") - 1, 1)
    ) AS "distance"
  FROM "salary_steps"
  GROUP BY
    1
), "unsafe_classes" /* the classes that fall short */ AS (
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
    OR CAST("disease_measures"."most" AS DOUBLE) / "disease_measures"."from_2" >= 1.499999999
    OR "salary_order"."distance" > 0.200000001
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
