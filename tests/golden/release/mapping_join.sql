WITH "city_map" AS (
  SELECT
    *
  FROM (VALUES
    ('Rome', 'Italy'),
    ('Milan', 'Italy'),
    ('Oslo', 'Norway'),
    ('Bergen', 'Norway')) AS "city_map"("value", "label")
)
SELECT
  CASE
    WHEN "source"."city" IS NULL
    THEN NULL
    ELSE COALESCE("city_map"."label", '(not in the scheme)')
  END AS "city",
  "source"."disease" AS "disease"
FROM "people" AS "source"
LEFT JOIN "city_map"
  ON "source"."city" COLLATE "binary" = "city_map"."value"
ORDER BY
  1,
  2;
