WITH "age_map" AS (
  SELECT
    *
  FROM (VALUES
    (20, 25, '[20, 25)'),
    (25, 25, '25'),
    (39, 90, '[39, 90]')) AS "age_map"("low", "high", "label")
)
SELECT
  COALESCE("age_map"."label", '(not in the scheme)') AS "age"
FROM "people" AS "source"
LEFT JOIN "age_map"
  ON "source"."age" >= "age_map"."low"
  AND "source"."age" <= "age_map"."high"
  AND (
    "source"."age" < "age_map"."high"
    OR "age_map"."low" = "age_map"."high"
    OR "age_map"."high" = 90
  )
ORDER BY
  1;
