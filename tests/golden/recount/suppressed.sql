-- reads:  the rows of the source as released before suppression, and the staged table
-- yields: one row per class that has fewer rows in the staged table: the number of missing rows
SELECT
  "q0", "q1",
  CAST(SUM(n) AS BIGINT) AS n_rows
FROM (
  SELECT
    "age" COLLATE "binary" AS "q0",
    "town" COLLATE "binary" AS "q1",
    COUNT(*) AS n
  FROM (SELECT CASE WHEN "source"."age" >= 20 AND "source"."age" < 40 THEN '[20, 40)' WHEN "source"."age" >= 40 AND "source"."age" <= 60 THEN '[40, 60]' ELSE '(not in the scheme)' END AS "age", CASE WHEN "source"."town" COLLATE "binary" IN ('Bonn', 'Lima') THEN '{Bonn, Lima}' WHEN "source"."town" COLLATE "binary" IN ('Oslo', 'Rome') THEN '{Oslo, Rome}' ELSE '(not in the scheme)' END AS "town" FROM "memory"."main"."people" AS "source") AS "released"
  GROUP BY 1, 2
  UNION ALL
  SELECT
    "age" COLLATE "binary" AS "q0",
    "town" COLLATE "binary" AS "q1",
    -COUNT(*) AS n
  FROM "memory"."main"."sqlanon_stage"
  GROUP BY 1, 2
) AS counted
GROUP BY 1, 2
HAVING SUM(n) > 0
