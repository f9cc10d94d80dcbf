WITH "age_map" AS (
  SELECT
    *
  FROM (VALUES
    (0, 25, '[0, 25)'),
    (25, 60, '[25, 60)'),
    (60, 90, '[60, 90]')) AS "age_map"("low", "high", "label")
)
SELECT
  COALESCE("age_map"."label", '(not in the scheme)') AS "age",
  "source"."sex" AS "sex",
  "source"."disease" AS "disease"
FROM "people" AS "source"
LEFT JOIN "age_map"
  ON "source"."age" >= "age_map"."low"
  AND "source"."age" <= "age_map"."high"
  AND (
    "source"."age" < "age_map"."high" OR "age_map"."high" = 90
  )
ORDER BY
  1,
  2,
  3;
