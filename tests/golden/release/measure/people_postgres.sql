WITH "generalized" /* one row per row of the source: the groups that its values are in */ AS (
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
    '*' AS "sex",
    "source"."person" AS "subject"
  FROM "people" AS "source"
), "source_counts" /* all rows and people, and the rows with a value of no group, whose scores mean nothing */ AS (
  SELECT
    COUNT(*) AS "source_rows",
    COUNT(DISTINCT "subject") AS "source_people",
    SUM(CASE WHEN "age" COLLATE "C" = '(not in the scheme)' THEN 1 ELSE 0 END) AS "uncovered"
  FROM "generalized"
), "classes" /* every class with its rows and its people */ AS (
  SELECT
    "age" COLLATE "C" AS "age",
    "sex" AS "sex",
    COUNT(*) AS "n_rows",
    COUNT(DISTINCT "subject") AS "people"
  FROM "generalized"
  GROUP BY
    1,
    2
), "sizes" /* the sizes that classes have, with the rows of all classes up to each size */ AS (
  SELECT
    "people",
    SUM(SUM("n_rows")) OVER (ORDER BY "people") AS "rows_up_to"
  FROM "classes"
  GROUP BY
    "people"
), "released" /* the classes but those left out: sizes below k, the smallest first, while their rows fit the limit */ AS (
  SELECT
    "classes"."n_rows",
    "classes"."people",
    CASE
      WHEN "classes"."age" COLLATE "C" = '[25, 60)'
      THEN 6
      WHEN "classes"."age" COLLATE "C" = '[60, 90]'
      THEN 5
      WHEN "classes"."age" COLLATE "C" = '[0, 25)'
      THEN 4
      ELSE 0
    END AS "age_lost",
    1 AS "sex_lost"
  FROM "classes"
  JOIN "sizes"
    ON "sizes"."people" = "classes"."people"
  CROSS JOIN "source_counts"
  WHERE
    "classes"."people" >= 2
    OR "sizes"."rows_up_to" * 10 > 3 * "source_counts"."source_rows"
), "totals" /* what the released classes add up to */ AS (
  SELECT
    COUNT(*) AS "classes",
    COALESCE(MIN("people"), 0) AS "k",
    COALESCE(MAX("people"), 0) AS "k_max",
    COALESCE(SUM("n_rows"), 0) AS "released_rows",
    COALESCE(SUM("n_rows" * "n_rows"), 0) AS "rows_squared",
    COALESCE(SUM("n_rows" * "age_lost"), 0) AS "age_lost",
    COALESCE(SUM("n_rows" * "sex_lost"), 0) AS "sex_lost"
  FROM "released"
), "counted" /* the numbers from which every score follows; no division of the losses is one of whole numbers */ AS (
  SELECT
    CAST("k" AS BIGINT) AS "k",
    CAST("k_max" AS BIGINT) AS "k_max",
    "classes",
    CAST("source_rows" - "released_rows" AS BIGINT) AS "suppressed",
    CAST("age_lost" AS DOUBLE PRECISION) AS "age_lost",
    CAST("sex_lost" AS DOUBLE PRECISION) AS "sex_lost",
    "rows_squared",
    "source_rows",
    "source_people",
    "uncovered"
  FROM "totals"
  CROSS JOIN "source_counts"
)
SELECT
  "k",
  "k_max",
  "classes",
  "suppressed",
  (
    "suppressed" + "age_lost" / 17 * 0.5 + "sex_lost" / 1 * 0.5
  ) / "source_rows" AS "nwp",
  "suppressed" * 2 + "age_lost" / 17 + "sex_lost" / 1 AS "glm",
  (
    "suppressed" * 2 + "age_lost" / 17 + "sex_lost" / 1
  ) / (
    "source_rows" * 2
  ) AS "glm_share",
  CAST("rows_squared" + "source_rows" * "suppressed" AS BIGINT) AS "dcn",
  CASE
    WHEN "source_rows" > 1
    THEN (
      CAST("source_rows" AS DOUBLE PRECISION) / (
        "classes" + CASE WHEN "suppressed" > 0 THEN 1 ELSE 0 END
      ) - 1
    ) / (
      "source_rows" - 1
    )
    ELSE 0
  END AS "class_size",
  CASE
    WHEN "source_people" > 1
    THEN CAST("k_max" - "k" AS DOUBLE PRECISION) / (
      "source_people" - 1
    )
    ELSE 0
  END AS "necd",
  "source_rows",
  "source_people",
  CAST("uncovered" AS BIGINT) AS "uncovered"
FROM "counted"
