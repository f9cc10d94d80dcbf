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
    SUM(COUNT(*)) OVER () AS "total",
    ROW_NUMBER() OVER (ORDER BY "disease" COLLATE "binary") AS "leaf"
  FROM "generalized"
  GROUP BY
    1
), "disease_tree" AS (
  SELECT
    *
  FROM (VALUES
    ('flu', 1),
    ('cold', 1),
    ('hiv', 2)) AS "disease_tree"("value", "level_1")
), "disease_nodes" /* every value of the source as a node of every level */ AS (
  SELECT
    "value",
    "people",
    "total",
    0 AS "level",
    "leaf" AS "node"
  FROM "disease_source"
  UNION ALL
  SELECT
    "disease_source"."value",
    "disease_source"."people",
    "disease_source"."total",
    1 AS "level",
    COALESCE("disease_tree"."level_1", -"disease_source"."leaf") AS "node"
  FROM "disease_source"
  LEFT JOIN "disease_tree"
    ON COALESCE("disease_source"."value", '') COLLATE "binary" = COALESCE("disease_tree"."value", '')
    AND CASE WHEN "disease_source"."value" IS NULL THEN 1 ELSE 0 END = CASE WHEN "disease_tree"."value" IS NULL THEN 1 ELSE 0 END
), "disease_node_source" /* the people of the source by node */ AS (
  SELECT
    "level",
    "node",
    SUM("people") AS "people",
    MAX("total") AS "total"
  FROM "disease_nodes"
  GROUP BY
    1,
    2
), "disease_node_counts" /* the people of each class by node */ AS (
  SELECT
    "disease_counts"."class",
    "disease_nodes"."level",
    "disease_nodes"."node",
    SUM("disease_counts"."people") AS "people",
    MAX("disease_counts"."total") AS "total"
  FROM "disease_counts"
  JOIN "disease_nodes"
    ON COALESCE("disease_counts"."value", '') COLLATE "binary" = COALESCE("disease_nodes"."value", '')
    AND CASE WHEN "disease_counts"."value" IS NULL THEN 1 ELSE 0 END = CASE WHEN "disease_nodes"."value" IS NULL THEN 1 ELSE 0 END
  GROUP BY
    1,
    2,
    3
), "disease_levels" /* how far each class is from the source */ AS (
  SELECT
    "disease_node_counts"."class",
    CAST(SUM(
      GREATEST(
        "disease_node_counts"."people" * "disease_node_source"."total" - "disease_node_counts"."total" * "disease_node_source"."people",
        0
      )
    ) AS DOUBLE) / (
      2 * MAX("disease_node_counts"."total" * "disease_node_source"."total")
    ) AS "distance"
  FROM "disease_node_counts"
  JOIN "disease_node_source"
    ON "disease_node_counts"."level" = "disease_node_source"."level"
    AND "disease_node_counts"."node" = "disease_node_source"."node"
  GROUP BY
    1
), "unsafe_classes" /* the classes that fall short */ AS (
  SELECT
    "classes"."age",
    TRUE AS "is_unsafe"
  FROM "classes"
  LEFT JOIN "disease_levels"
    ON "disease_levels"."class" = "classes"."class"
  WHERE
    "classes"."people" < 2 OR "disease_levels"."distance" > 0.250000001
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
