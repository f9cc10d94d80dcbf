-- people, k = 2
SELECT
  CASE
    WHEN "source"."age" >= 0 AND "source"."age" < 25
    THEN '[0, 25)'
    WHEN "source"."age" >= 25 AND "source"."age" < 60
    THEN '[25, 60)'
    WHEN "source"."age" >= 60 AND "source"."age" <= 90
    THEN '[60, 90]'
    ELSE '(not in the scheme)'
  END AS "age",
  CASE
    WHEN "source"."city" COLLATE "binary" IN ('Rome', 'Milan')
    THEN 'Italy'
    WHEN "source"."city" COLLATE "binary" IN ('Oslo', 'Bergen')
    THEN 'Norway'
    WHEN "source"."city" IS NULL
    THEN NULL
    ELSE '(not in the scheme)'
  END AS "city",
  '*' AS "sex",
  "source"."disease" AS "disease"
FROM "people" AS "source"
ORDER BY
  1,
  2,
  3,
  4;
