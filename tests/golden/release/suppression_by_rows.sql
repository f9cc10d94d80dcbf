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
), "alike" /* the rows that are released alike, once, and how often */ AS (
  SELECT
    "generalized"."age" COLLATE "binary" AS "age",
    "generalized"."city" COLLATE "binary" AS "city",
    COUNT(*) AS "n_rows"
  FROM "generalized"
  GROUP BY
    1,
    2
), "sized" /* the same with the number of rows in their class */ AS (
  SELECT
    "alike"."age",
    "alike"."city",
    "alike"."n_rows",
    SUM("alike"."n_rows") OVER (PARTITION BY "alike"."age" COLLATE "binary", "alike"."city" COLLATE "binary") AS "people"
  FROM "alike"
  ORDER BY
    1,
    2
), "counted" /* every row with the number of rows in its class */ AS (
  SELECT
    "sized"."age",
    "sized"."city",
    "sized"."people",
    UNNEST(RANGE(0, "sized"."n_rows")) AS "place"
  FROM "sized"
)
SELECT
  "counted"."age",
  "counted"."city"
FROM "counted"
WHERE
  "counted"."people" >= 2
ORDER BY
  1,
  2;
