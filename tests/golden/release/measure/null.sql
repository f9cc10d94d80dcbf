-- measures a scheme on people
-- policy , scheme
-- leaves out classes of fewer than 2 rows, up to a share of 0.1 of the rows
WITH "generalized" /* one row per row of the source: the groups that its values are in */ AS (
  SELECT
    CASE
      WHEN "source"."city" COLLATE "binary" IN ('Rome', 'Milan')
      THEN 'Italy'
      WHEN "source"."city" COLLATE "binary" IN ('Oslo', 'Bergen')
      THEN 'Norway'
      WHEN "source"."city" IS NULL
      THEN NULL
      ELSE '(not in the scheme)'
    END AS "city"
  FROM "people" AS "source"
), "source_counts" /* all rows and people, and the rows with a value of no group, whose scores mean nothing */ AS (
  SELECT
    COUNT(*) AS "source_rows",
    COUNT(*) AS "source_people",
    SUM(CASE WHEN "city" COLLATE "binary" = '(not in the scheme)' THEN 1 ELSE 0 END) AS "uncovered"
  FROM "generalized"
), "classes" /* every class with its rows and its people */ AS (
  SELECT
    "city" COLLATE "binary" AS "city",
    COUNT(*) AS "n_rows",
    COUNT(*) AS "people"
  FROM "generalized"
  GROUP BY
    1
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
    CASE WHEN "classes"."city" COLLATE "binary" IN ('Italy', 'Norway') THEN 1 ELSE 0 END AS "city_lost"
  FROM "classes"
  JOIN "sizes"
    ON "sizes"."people" = "classes"."people"
  CROSS JOIN "source_counts"
  WHERE
    "classes"."people" >= 2
    OR "sizes"."rows_up_to" * 10 > 1 * "source_counts"."source_rows"
), "totals" /* what the released classes add up to */ AS (
  SELECT
    COUNT(*) AS "classes",
    COALESCE(MIN("people"), 0) AS "k",
    COALESCE(MAX("people"), 0) AS "k_max",
    COALESCE(SUM("n_rows"), 0) AS "released_rows",
    COALESCE(SUM("n_rows" * "n_rows"), 0) AS "rows_squared",
    COALESCE(SUM("n_rows" * "city_lost"), 0) AS "city_lost"
  FROM "released"
), "counted" /* the numbers from which every score follows; no division of the losses is one of whole numbers */ AS (
  SELECT
    CAST("k" AS BIGINT) AS "k",
    CAST("k_max" AS BIGINT) AS "k_max",
    "classes",
    CAST("source_rows" - "released_rows" AS BIGINT) AS "suppressed",
    CAST("city_lost" AS DOUBLE) AS "city_lost",
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
    "suppressed" + "city_lost" / 4 * 1.0
  ) / "source_rows" AS "nwp",
  "suppressed" * 1 + "city_lost" / 4 AS "glm",
  (
    "suppressed" * 1 + "city_lost" / 4
  ) / (
    "source_rows" * 1
  ) AS "glm_share",
  CAST("rows_squared" + "source_rows" * "suppressed" AS BIGINT) AS "dcn",
  CASE
    WHEN "source_rows" > 1
    THEN (
      CAST("source_rows" AS DOUBLE) / (
        "classes" + CASE WHEN "suppressed" > 0 THEN 1 ELSE 0 END
      ) - 1
    ) / (
      "source_rows" - 1
    )
    ELSE 0
  END AS "class_size",
  CASE
    WHEN "source_people" > 1
    THEN CAST("k_max" - "k" AS DOUBLE) / (
      "source_people" - 1
    )
    ELSE 0
  END AS "necd",
  "source_rows",
  "source_people",
  CAST("uncovered" AS BIGINT) AS "uncovered"
FROM "counted";
