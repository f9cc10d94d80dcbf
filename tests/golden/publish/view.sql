BEGIN TRANSACTION;

SELECT
  COUNT(*) - COUNT(CASE WHEN "source"."age" >= 20 AND "source"."age" <= 60 THEN 1 END) AS "age",
  COUNT(*) - COUNT(
    CASE
      WHEN "source"."town" COLLATE "binary" IN ('Bonn', 'Lima', 'Oslo', 'Rome')
      THEN 1
    END
  ) AS "town"
FROM "memory"."main"."people" AS "source";

SELECT
  COUNT(*) AS "n_rows"
FROM "memory"."main"."people";

CREATE TEMPORARY TABLE "temp"."main"."sqlanon_stage" AS
WITH "generalized" AS (
  SELECT
    CASE
      WHEN "source"."age" >= 20 AND "source"."age" < 40
      THEN '[20, 40)'
      WHEN "source"."age" >= 40 AND "source"."age" <= 60
      THEN '[40, 60]'
      ELSE '(not in the scheme)'
    END AS "age",
    CASE
      WHEN "source"."town" COLLATE "binary" IN ('Bonn', 'Lima')
      THEN '{Bonn, Lima}'
      WHEN "source"."town" COLLATE "binary" IN ('Oslo', 'Rome')
      THEN '{Oslo, Rome}'
      ELSE '(not in the scheme)'
    END AS "town",
    "source"."disease" AS "disease"
  FROM "memory"."main"."people" AS "source"
  WHERE
    (
      "source"."age" >= 20 AND "source"."age" <= 60
    )
    AND "source"."town" COLLATE "binary" IN ('Bonn', 'Lima', 'Oslo', 'Rome')
), "small_classes" AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    "town" COLLATE "binary" AS "town",
    TRUE AS "is_small"
  FROM "generalized"
  GROUP BY
    1,
    2
  HAVING
    COUNT(*) < 5
)
SELECT
  "generalized"."age",
  "generalized"."town",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "small_classes"
  ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."age"
  AND "generalized"."town" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."town"
WHERE
  "small_classes"."is_small" IS NULL
ORDER BY
  1,
  2,
  3;

CREATE OR REPLACE VIEW "memory"."main"."people_anon" AS
WITH "generalized" AS (
  SELECT
    CASE
      WHEN "source"."age" >= 20 AND "source"."age" < 40
      THEN '[20, 40)'
      WHEN "source"."age" >= 40 AND "source"."age" <= 60
      THEN '[40, 60]'
      ELSE '(not in the scheme)'
    END AS "age",
    CASE
      WHEN "source"."town" COLLATE "binary" IN ('Bonn', 'Lima')
      THEN '{Bonn, Lima}'
      WHEN "source"."town" COLLATE "binary" IN ('Oslo', 'Rome')
      THEN '{Oslo, Rome}'
      ELSE '(not in the scheme)'
    END AS "town",
    "source"."disease" AS "disease"
  FROM "memory"."main"."people" AS "source"
  WHERE
    (
      "source"."age" >= 20 AND "source"."age" <= 60
    )
    AND "source"."town" COLLATE "binary" IN ('Bonn', 'Lima', 'Oslo', 'Rome')
), "small_classes" AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    "town" COLLATE "binary" AS "town",
    TRUE AS "is_small"
  FROM "generalized"
  GROUP BY
    1,
    2
  HAVING
    COUNT(*) < 5
)
SELECT
  "generalized"."age",
  "generalized"."town",
  "generalized"."disease"
FROM "generalized"
LEFT JOIN "small_classes"
  ON "generalized"."age" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."age"
  AND "generalized"."town" COLLATE "binary" IS NOT DISTINCT FROM "small_classes"."town"
WHERE
  "small_classes"."is_small" IS NULL
ORDER BY
  1,
  2,
  3;

DROP TABLE "temp"."main"."sqlanon_stage";

COMMIT;
