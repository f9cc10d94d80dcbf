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
), "routed" /* every row with the region that it lies in */ AS (
  SELECT
    "source"."age" AS "age",
    "source"."sex" AS "sex",
    "source"."town" AS "town",
    CASE
      WHEN (
        "source"."age" >= 20 AND "source"."age" <= 80
      )
      AND "source"."sex" COLLATE "binary" IN ('f', 'm')
      AND (
        "source"."town" COLLATE "binary" IN ('Oslo', 'Bergen', 'Rome', 'Milan')
        OR "source"."town" IS NULL
      )
      THEN CASE
        WHEN "source"."age" < 40
        THEN CASE WHEN "source"."sex" COLLATE "binary" = 'f' THEN 4 ELSE 5 END
        ELSE CASE
          WHEN "source"."town" IS NOT NULL
          THEN CASE
            WHEN "source"."town" COLLATE "binary" IN ('Oslo', 'Bergen')
            THEN CASE WHEN "source"."age" < 60 THEN 10 ELSE 11 END
            ELSE CASE WHEN "source"."sex" COLLATE "binary" = 'f' THEN 12 ELSE 13 END
          END
          ELSE 7
        END
      END
    END AS "region"
  FROM "people" AS "source"
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
FROM "routed" AS "source"
LEFT JOIN "regions"
  ON "source"."region" = "regions"."region"
ORDER BY
  1,
  2,
  3;
