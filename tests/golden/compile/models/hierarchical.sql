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
    "source"."disease" AS "disease"
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
    "generalized"."disease" COLLATE "binary" AS "disease"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "classes"."age"
), "disease_counts" AS (
  SELECT
    "class",
    "disease" AS "value",
    COUNT(*) AS "people",
    SUM(COUNT(*)) OVER (PARTITION BY "class") AS "total"
  FROM "members"
  GROUP BY
    1,
    2
), "disease_source" AS (
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
), "disease_nodes" AS (
  SELECT
    "disease_source"."value",
    "disease_source"."people",
    "disease_source"."total",
    0 AS "level",
    "disease_source"."leaf" AS "node"
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
    ON "disease_source"."value" COLLATE "binary" = "disease_tree"."value"
), "disease_node_source" AS (
  SELECT
    "disease_nodes"."level",
    "disease_nodes"."node",
    SUM("disease_nodes"."people") AS "people",
    MAX("disease_nodes"."total") AS "total"
  FROM "disease_nodes"
  GROUP BY
    1,
    2
), "disease_node_counts" AS (
  SELECT
    "disease_counts"."class",
    "disease_nodes"."level",
    "disease_nodes"."node",
    SUM("disease_counts"."people") AS "people",
    MAX("disease_counts"."total") AS "total"
  FROM "disease_counts"
  JOIN "disease_nodes"
    ON "disease_counts"."value" COLLATE "binary" IS NOT DISTINCT FROM "disease_nodes"."value"
  GROUP BY
    1,
    2,
    3
), "disease_levels" AS (
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
), "unsafe_classes" AS (
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
  ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2;
