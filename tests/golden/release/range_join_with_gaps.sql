WITH "age_map" AS (
  SELECT
    *
  FROM (VALUES
    (20, 25, '[20, 25)'),
    (25, 25, '25'),
    (39, 90, '[39, 90]')) AS "age_map"("low", "high", "label")
)
SELECT
  CASE
    WHEN "source"."age" <= "age_map"."high"
    THEN "age_map"."label"
    ELSE '(not in the scheme)'
  END AS "age"
FROM "people" AS "source"
ASOF LEFT JOIN "age_map"
  ON "source"."age" >= "age_map"."low"
ORDER BY
  1;
