-- k = 11, required 2
-- suppresses no class: publish refuses classes of fewer than 2 rows
WITH "regions" AS (
  SELECT
    *
  FROM (VALUES
    (4, '[20, 40)', 'f', '*'),
    (5, '[20, 40)', 'm', '*'),
    (10, '[40, 60)', '*', '{Oslo, Bergen}'),
    (12, '[40, 80]', 'f', '{Rome, Milan}'),
    (7, '[40, 80]', '*', NULL),
    (13, '[40, 80]', 'm', '{Rome, Milan}'),
    (11, '[60, 80]', '*', '{Oslo, Bergen}')) AS "regions"("region", "age", "sex", "town")
), "age_places" AS (
  SELECT
    *
  FROM (VALUES
    (20, 40, 0),
    (40, 60, 1),
    (60, 80, 2)) AS "age_places"("low", "high", "place")
), "sex_places" AS (
  SELECT
    *
  FROM (VALUES
    ('f', 0),
    ('m', 1)) AS "sex_places"("value", "place")
), "town_places" AS (
  SELECT
    *
  FROM (VALUES
    ('Oslo', 0),
    ('Bergen', 0),
    ('Rome', 1),
    ('Milan', 1)) AS "town_places"("value", "place")
), "splits" AS (
  SELECT
    *
  FROM (VALUES
    (1, 0, 1, 2, 3),
    (2, 1, 1, 4, 5),
    (3, 2, 2, 6, 7),
    (6, 2, 1, 8, 9),
    (8, 0, 2, 10, 11),
    (9, 1, 1, 12, 13)) AS "splits"("node", "column", "below", "yes", "no")
), "placed" /* every row at node 1, with the places of its values */ AS (
  SELECT
    "source"."age" AS "age",
    "source"."sex" AS "sex",
    "source"."town" AS "town",
    "age_places"."place" AS "place_of_age",
    "sex_places"."place" AS "place_of_sex",
    CASE WHEN "source"."town" IS NULL THEN 2 ELSE "town_places"."place" END AS "place_of_town",
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
  ASOF LEFT JOIN "age_places"
    ON CASE WHEN "source"."age" <= 80 THEN "source"."age" END >= "age_places"."low"
  LEFT JOIN "sex_places"
    ON "source"."sex" COLLATE "binary" = "sex_places"."value"
  LEFT JOIN "town_places"
    ON "source"."town" COLLATE "binary" = "town_places"."value"
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
    WHEN "source"."region" IS NULL
    THEN '(not in the scheme)'
    ELSE "regions"."age"
  END AS "age",
  CASE
    WHEN "source"."region" IS NULL
    THEN '(not in the scheme)'
    ELSE "regions"."sex"
  END AS "sex",
  CASE
    WHEN "source"."region" IS NULL
    THEN '(not in the scheme)'
    ELSE "regions"."town"
  END AS "town"
FROM "level_4" AS "source"
LEFT JOIN "regions"
  ON "source"."region" = "regions"."region"
ORDER BY
  1,
  2,
  3;
