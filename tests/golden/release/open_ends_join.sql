WITH "age_map" AS (
  SELECT
    *
  FROM (VALUES
    (0, 25, '<25'),
    (25, 60, '[25, 60)'),
    (60, 90, '60+')) AS "age_map"("low", "high", "label")
), "city_map" AS (
  SELECT
    *
  FROM (VALUES
    ('Rome', 'Italy'),
    ('Milan', 'Italy'),
    ('Oslo', 'Norway'),
    ('Bergen', 'Norway')) AS "city_map"("value", "label")
)
SELECT
  COALESCE("age_map"."label", '(not in the scheme)') AS "age",
  CASE
    WHEN "source"."city" IS NULL
    THEN 'unknown'
    ELSE COALESCE("city_map"."label", '(not in the scheme)')
  END AS "city"
FROM "people" AS "source"
ASOF LEFT JOIN "age_map"
  ON CASE WHEN "source"."age" < 0 THEN 0 ELSE "source"."age" END >= "age_map"."low"
LEFT JOIN "city_map"
  ON "source"."city" COLLATE "binary" = "city_map"."value"
ORDER BY
  1,
  2;
