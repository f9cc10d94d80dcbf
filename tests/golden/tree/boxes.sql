-- k = not measured: the source holds values that are new to the scheme, required 2
-- suppresses no class: publish refuses classes of fewer than 2 rows
WITH "regions" AS (
  SELECT
    *
  FROM (VALUES
    (4, '[20, 35)', 'f', '*', 0, 1, 0, 1, 0, 4),
    (5, '[20, 40)', 'm', '*', 0, 2, 1, 2, 0, 4),
    (10, '[40, 60)', '*', 'Oslo', 2, 3, 0, 2, 0, 1),
    (12, '[40, 60)', 'f', '{Rome, Milan}', 2, 3, 0, 1, 2, 3),
    (7, '[40, 80]', '*', NULL, 2, 4, 0, 2, 3, 4),
    (13, '[40, 80]', 'm', '{Rome, Milan}', 2, 4, 1, 2, 2, 3),
    (11, '[60, 80]', '*', '{Oslo, Bergen}', 3, 4, 0, 2, 0, 2)) AS "regions"("region", "age", "sex", "town", "age_from", "age_below", "sex_from", "sex_below", "town_from", "town_below")
), "splits" AS (
  SELECT
    *
  FROM (VALUES
    (1, 0, 2, 2, 3),
    (2, 1, 1, 4, 5),
    (3, 2, 3, 6, 7),
    (6, 2, 2, 8, 9),
    (8, 0, 3, 10, 11),
    (9, 1, 1, 12, 13)) AS "splits"("node", "column", "below", "yes", "no")
), "placed" /* every row at node 1, with the places of its values */ AS (
  SELECT
    "source"."age" AS "age",
    "source"."sex" AS "sex",
    "source"."town" AS "town",
    CASE
      WHEN "source"."age" >= 20 AND "source"."age" < 35
      THEN 0
      WHEN "source"."age" >= 35 AND "source"."age" < 40
      THEN 1
      WHEN "source"."age" >= 40 AND "source"."age" < 60
      THEN 2
      WHEN "source"."age" >= 60 AND "source"."age" <= 80
      THEN 3
    END AS "place_of_age",
    CASE
      WHEN "source"."sex" COLLATE "binary" = 'f'
      THEN 0
      WHEN "source"."sex" COLLATE "binary" = 'm'
      THEN 1
    END AS "place_of_sex",
    CASE
      WHEN "source"."town" COLLATE "binary" = 'Oslo'
      THEN 0
      WHEN "source"."town" COLLATE "binary" = 'Bergen'
      THEN 1
      WHEN "source"."town" COLLATE "binary" IN ('Rome', 'Milan')
      THEN 2
      WHEN "source"."town" IS NULL
      THEN 3
    END AS "place_of_town",
    CASE
      WHEN (
        "source"."age" >= 20 AND "source"."age" <= 80
      )
      AND "source"."sex" COLLATE "binary" IN ('f', 'm')
      AND (
        "source"."town" COLLATE "binary" IN ('Oslo', 'Bergen', 'Rome', 'Milan')
        OR "source"."town" IS NULL
      )
      THEN CAST(1 AS BIGINT)
    END AS "region"
  FROM "people" AS "source"
), "level_1" /* 1 splits down */ AS (
  SELECT
    "placed"."age",
    "placed"."sex",
    "placed"."town",
    "placed"."place_of_age",
    "placed"."place_of_sex",
    "placed"."place_of_town",
    CASE
      WHEN "splits"."node" IS NULL
      THEN "placed"."region"
      WHEN CASE "splits"."column"
        WHEN 0
        THEN "placed"."place_of_age"
        WHEN 1
        THEN "placed"."place_of_sex"
        WHEN 2
        THEN "placed"."place_of_town"
      END < "splits"."below"
      THEN "splits"."yes"
      ELSE "splits"."no"
    END AS "region"
  FROM "placed"
  LEFT JOIN "splits"
    ON "splits"."node" = "placed"."region"
), "level_2" /* 2 splits down */ AS (
  SELECT
    "level_1"."age",
    "level_1"."sex",
    "level_1"."town",
    "level_1"."place_of_age",
    "level_1"."place_of_sex",
    "level_1"."place_of_town",
    CASE
      WHEN "splits"."node" IS NULL
      THEN "level_1"."region"
      WHEN CASE "splits"."column"
        WHEN 0
        THEN "level_1"."place_of_age"
        WHEN 1
        THEN "level_1"."place_of_sex"
        WHEN 2
        THEN "level_1"."place_of_town"
      END < "splits"."below"
      THEN "splits"."yes"
      ELSE "splits"."no"
    END AS "region"
  FROM "level_1"
  LEFT JOIN "splits"
    ON "splits"."node" = "level_1"."region"
), "level_3" /* 3 splits down */ AS (
  SELECT
    "level_2"."age",
    "level_2"."sex",
    "level_2"."town",
    "level_2"."place_of_age",
    "level_2"."place_of_sex",
    "level_2"."place_of_town",
    CASE
      WHEN "splits"."node" IS NULL
      THEN "level_2"."region"
      WHEN CASE "splits"."column"
        WHEN 0
        THEN "level_2"."place_of_age"
        WHEN 1
        THEN "level_2"."place_of_sex"
        WHEN 2
        THEN "level_2"."place_of_town"
      END < "splits"."below"
      THEN "splits"."yes"
      ELSE "splits"."no"
    END AS "region"
  FROM "level_2"
  LEFT JOIN "splits"
    ON "splits"."node" = "level_2"."region"
), "level_4" /* 4 splits down */ AS (
  SELECT
    "level_3"."age",
    "level_3"."sex",
    "level_3"."town",
    "level_3"."place_of_age",
    "level_3"."place_of_sex",
    "level_3"."place_of_town",
    CASE
      WHEN "splits"."node" IS NULL
      THEN "level_3"."region"
      WHEN CASE "splits"."column"
        WHEN 0
        THEN "level_3"."place_of_age"
        WHEN 1
        THEN "level_3"."place_of_sex"
        WHEN 2
        THEN "level_3"."place_of_town"
      END < "splits"."below"
      THEN "splits"."yes"
      ELSE "splits"."no"
    END AS "region"
  FROM "level_3"
  LEFT JOIN "splits"
    ON "splits"."node" = "level_3"."region"
)
SELECT
  CASE
    WHEN "regions"."region" IS NULL
    THEN '(not in the scheme)'
    ELSE "regions"."age"
  END AS "age",
  CASE
    WHEN "regions"."region" IS NULL
    THEN '(not in the scheme)'
    ELSE "regions"."sex"
  END AS "sex",
  CASE
    WHEN "regions"."region" IS NULL
    THEN '(not in the scheme)'
    ELSE "regions"."town"
  END AS "town"
FROM "level_4" AS "source"
LEFT JOIN "regions"
  ON "source"."region" = "regions"."region"
  AND "source"."place_of_age" >= "regions"."age_from"
  AND "source"."place_of_age" < "regions"."age_below"
  AND "source"."place_of_sex" >= "regions"."sex_from"
  AND "source"."place_of_sex" < "regions"."sex_below"
  AND "source"."place_of_town" >= "regions"."town_from"
  AND "source"."place_of_town" < "regions"."town_below"
WHERE
  "regions"."region" IS NOT NULL
ORDER BY
  1,
  2,
  3;
