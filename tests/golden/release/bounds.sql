SELECT
  CASE
    WHEN "source"."age" >= 0 AND "source"."age" < 25
    THEN 0
    WHEN "source"."age" >= 25 AND "source"."age" < 60
    THEN 25
    WHEN "source"."age" >= 60 AND "source"."age" <= 90
    THEN 60
  END AS "age_low",
  CASE
    WHEN "source"."age" >= 0 AND "source"."age" < 25
    THEN 25
    WHEN "source"."age" >= 25 AND "source"."age" < 60
    THEN 60
    WHEN "source"."age" >= 60 AND "source"."age" <= 90
    THEN 90
  END AS "age_high",
  "source"."sex" AS "sex"
FROM "people" AS "source"
ORDER BY
  1,
  2,
  3;
