SELECT
  CASE
    WHEN "source"."age" >= 0 AND "source"."age" < 25
    THEN '[0, 25)'
    WHEN "source"."age" >= 25 AND "source"."age" < 60
    THEN '[25, 60)'
    WHEN "source"."age" >= 60 AND "source"."age" <= 90
    THEN '[60, 90]'
    ELSE '*'
  END AS "age",
  CASE
    WHEN "source"."city" COLLATE "binary" IN ('Rome', 'Milan')
    THEN 'Italy'
    WHEN "source"."city" COLLATE "binary" IN ('Oslo', 'Bergen')
    THEN 'Norway'
    WHEN "source"."city" IS NULL
    THEN NULL
    ELSE 'Europe'
  END AS "city"
FROM "people" AS "source"
ORDER BY
  1,
  2;
