BEGIN TRANSACTION;

SELECT
  COUNT(*) AS "n_rows",
  COUNT(DISTINCT "source"."name") AS "n_people",
  COUNT(*) - COUNT(CASE WHEN "source"."age" >= 20 AND "source"."age" <= 60 THEN 1 END) AS "age",
  COUNT(*) - COUNT(
    CASE
      WHEN "source"."town" COLLATE "binary" IN ('Bonn', 'Lima', 'Oslo', 'Rome')
      THEN 1
    END
  ) AS "town"
FROM "memory"."main"."people" AS "source";

CREATE TABLE "memory"."main"."sqlanon_stage" AS
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
    "source"."disease" AS "disease",
    LEFT(SHA256($key_1 || SHA256($key_1 || CAST("source"."name" AS TEXT))), 32) AS "name",
    "source"."name" AS "subject"
  FROM "memory"."main"."people" AS "source"
), "unsafe_classes" /* the classes of fewer than k people */ AS (
  SELECT
    "age" COLLATE "binary" AS "age",
    "town" COLLATE "binary" AS "town",
    TRUE AS "is_unsafe"
  FROM "generalized"
  GROUP BY
    1,
    2
  HAVING
    COUNT(DISTINCT "subject") < 5
)
SELECT
  "generalized"."age",
  "generalized"."town",
  "generalized"."disease",
  "generalized"."name",
  "generalized"."subject"
FROM "generalized"
LEFT JOIN "unsafe_classes"
  ON "generalized"."age" COLLATE "binary" = "unsafe_classes"."age"
  AND "generalized"."town" COLLATE "binary" = "unsafe_classes"."town"
WHERE
  "unsafe_classes"."is_unsafe" IS NULL
ORDER BY
  1,
  2,
  3,
  4;

COMMENT ON TABLE "memory"."main"."sqlanon_stage" IS 'sqlanon: a release in the making, safe to drop';

ALTER TABLE "memory"."main"."sqlanon_stage" DROP COLUMN "subject";

DROP TABLE "memory"."main"."former";

ALTER TABLE "memory"."main"."sqlanon_stage" RENAME TO "former";

COMMENT ON TABLE "memory"."main"."former" IS 'released by sqlanon';

ALTER TABLE "memory"."main"."former" ALTER COLUMN "town" SET NOT NULL;

COMMIT;
