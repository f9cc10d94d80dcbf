BEGIN TRANSACTION;

SELECT
  COUNT(*) AS "n_rows",
  COUNT(*) AS "n_people",
  COUNT(*) - COUNT(CASE WHEN "source"."age" >= 20 AND "source"."age" <= 60 THEN 1 END) AS "age",
  COUNT(*) - COUNT(
    CASE
      WHEN "source"."town" COLLATE "binary" IN ('Bonn', 'Lima', 'Oslo', 'Rome')
      THEN 1
    END
  ) AS "town"
FROM "memory"."main"."people" AS "source";

CREATE TEMPORARY TABLE "temp"."main"."sqlanon_stage" AS
WITH "generalized" /* one row per row of the source, as it is released */ AS (
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
), "counted" /* every row with the number of rows in its class */ AS (
  SELECT
    "generalized"."age",
    "generalized"."town",
    "generalized"."disease",
    COUNT(*) OVER (
      PARTITION BY "generalized"."age" COLLATE "binary", "generalized"."town" COLLATE "binary"
    ) AS "people"
  FROM "generalized"
)
SELECT
  CASE WHEN "counted"."people" >= 5 THEN "counted"."age" END AS "age",
  CASE WHEN "counted"."people" >= 5 THEN "counted"."town" END AS "town",
  CASE WHEN "counted"."people" >= 5 THEN "counted"."disease" END AS "disease"
FROM "counted"
WHERE
  "counted"."people" >= 5
ORDER BY
  1,
  2,
  3;

CREATE OR REPLACE VIEW "memory"."main"."people_anon" AS
WITH "generalized" /* one row per row of the source, as it is released */ AS (
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
), "counted" /* every row with the number of rows in its class */ AS (
  SELECT
    "generalized"."age",
    "generalized"."town",
    "generalized"."disease",
    COUNT(*) OVER (
      PARTITION BY "generalized"."age" COLLATE "binary", "generalized"."town" COLLATE "binary"
    ) AS "people"
  FROM "generalized"
)
SELECT
  CASE WHEN "counted"."people" >= 5 THEN "counted"."age" END AS "age",
  CASE WHEN "counted"."people" >= 5 THEN "counted"."town" END AS "town",
  CASE WHEN "counted"."people" >= 5 THEN "counted"."disease" END AS "disease"
FROM "counted"
WHERE
  "counted"."people" >= 5
ORDER BY
  1,
  2,
  3;

DROP TABLE "temp"."main"."sqlanon_stage";

COMMIT;
