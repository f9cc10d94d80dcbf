SELECT
  CASE
    WHEN "source"."age" < 25
    THEN '<25'
    WHEN "source"."age" >= 25 AND "source"."age" < 60
    THEN '[25, 60)'
    WHEN "source"."age" >= 60
    THEN '60+'
    ELSE '(not in the scheme)'
  END AS "age",
  CASE
    WHEN "source"."city" COLLATE "binary" IN ('Rome', 'Milan')
    THEN 'Italy'
    WHEN "source"."city" COLLATE "binary" IN ('Oslo', 'Bergen')
    THEN 'Norway'
    WHEN "source"."city" IS NULL
    THEN 'unknown'
    ELSE '(not in the scheme)'
  END AS "city"
FROM "people" AS "source"
ORDER BY
  1,
  2;
