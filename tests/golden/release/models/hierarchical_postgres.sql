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
    "age" COLLATE "C" AS "age",
    COUNT(*) AS "people",
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C") AS "class"
  FROM "generalized"
  GROUP BY
    1
), "members" AS (
  SELECT
    "classes"."class",
    "generalized"."disease" COLLATE "C" AS "disease"
  FROM "generalized"
  JOIN "classes"
    ON "generalized"."age" COLLATE "C" = "classes"."age"
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
    "disease" COLLATE "C" AS "value",
    COUNT(*) AS "people",
    SUM(COUNT(*)) OVER () AS "total",
    ROW_NUMBER() OVER (ORDER BY "disease" COLLATE "C") AS "leaf"
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
    "value",
    "people",
    "total",
    0 AS "level",
    "leaf" AS "node"
  FROM "disease_source"
  UNION ALL
  SELECT
    "source"."value",
    "source"."people",
    "source"."total",
    1 AS "level",
    COALESCE("tree"."level_1", -"source"."leaf") AS "node"
  FROM "disease_source" AS "source"
  LEFT JOIN "disease_tree" AS "tree"
    ON COALESCE("source"."value", '') COLLATE "C" = COALESCE("tree"."value", '')
    AND CASE WHEN "source"."value" IS NULL THEN 1 ELSE 0 END = CASE WHEN "tree"."value" IS NULL THEN 1 ELSE 0 END
), "disease_node_source" AS (
  SELECT
    "level",
    "node",
    SUM("people") AS "people",
    MAX("total") AS "total"
  FROM "disease_nodes"
  GROUP BY
    1,
    2
), "disease_node_counts" AS (
  SELECT
    "counts"."class",
    "nodes"."level",
    "nodes"."node",
    SUM("counts"."people") AS "people",
    MAX("counts"."total") AS "total"
  FROM "disease_counts" AS "counts"
  JOIN "disease_nodes" AS "nodes"
    ON COALESCE("counts"."value", '') COLLATE "C" = COALESCE("nodes"."value", '')
    AND CASE WHEN "counts"."value" IS NULL THEN 1 ELSE 0 END = CASE WHEN "nodes"."value" IS NULL THEN 1 ELSE 0 END
  GROUP BY
    1,
    2,
    3
), "disease_levels" AS (
  SELECT
    "counts"."class",
    CAST(SUM(
      GREATEST("counts"."people" * "source"."total" - "counts"."total" * "source"."people", 0)
    ) AS DOUBLE PRECISION) / (
      2 * MAX("counts"."total" * "source"."total")
    ) AS "distance"
  FROM "disease_node_counts" AS "counts"
  JOIN "disease_node_source" AS "source"
    ON "counts"."level" = "source"."level" AND "counts"."node" = "source"."node"
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
  ON "generalized"."age" COLLATE "C" = "unsafe_classes"."age"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2;
