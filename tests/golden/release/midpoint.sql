SELECT
  CAST(CASE
    WHEN "source"."age" >= 0 AND "source"."age" < 25
    THEN 12.5
    WHEN "source"."age" >= 25 AND "source"."age" < 60
    THEN 42.5
    WHEN "source"."age" >= 60 AND "source"."age" <= 90
    THEN 75
  END AS DECIMAL(18, 1)) AS "age",
  "source"."sex" AS "sex"
FROM "people" AS "source"
ORDER BY
  1,
  2;
