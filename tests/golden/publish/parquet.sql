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

-- reads:  a verified release
-- yields: a Parquet file with a mark that allows a later release to replace it
COPY (
  SELECT "age", "town", "disease" FROM "temp"."main"."sqlanon_stage"
) TO 'people.parquet' (
  FORMAT parquet,
  COMPRESSION zstd,
  KV_METADATA {sqlanon: 'released by sqlanon'},
  USE_TMP_FILE false
);

DROP TABLE "temp"."main"."sqlanon_stage";

COMMIT;
