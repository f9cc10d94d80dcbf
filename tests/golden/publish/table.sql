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

CREATE TABLE "memory"."main"."sqlanon_stage" AS
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
ORDER BY
  1,
  2,
  3;

COMMENT ON TABLE "memory"."main"."sqlanon_stage" IS 'sqlanon: a release in the making, safe to drop';

ALTER TABLE "memory"."main"."sqlanon_stage" RENAME TO "people_anon";

COMMENT ON TABLE "memory"."main"."people_anon" IS 'released by sqlanon';

COMMIT;
