-- reads:  a release whose generalized columns hold the labels of their groups
-- yields: one row per released row; a generalized column holds a value drawn from its group
-- The number of a row decides the draw. Rows that tie in the order are equal.
WITH "sqlanon_rows" AS (
  SELECT
    *,
    ROW_NUMBER() OVER (ORDER BY "age" COLLATE "binary" ASC NULLS LAST, "sex" COLLATE "binary" ASC NULLS LAST, "outcome" COLLATE "binary" ASC NULLS LAST) AS "sqlanon_number"
  FROM (SELECT CASE WHEN "source"."age" >= 20 AND "source"."age" < 35 THEN '[20, 35)' WHEN "source"."age" >= 35 AND "source"."age" <= 40 THEN '[35, 40]' ELSE '(not in the scheme)' END AS "age", '*' AS "sex", "source"."outcome" AS "outcome" FROM "people" AS "source") AS released
)
, "sqlanon_groups_0" ("label", "first", "size") AS (
  VALUES ('[20, 35)', 0, 3), ('[35, 40]', 3, 1)
)
, "sqlanon_atoms_0" ("atom", "low", "steps") AS (
  VALUES (0, 20, 5), (1, 25, 5), (2, 30, 5), (3, 35, 6)
)
, "sqlanon_groups_1" ("label", "first", "size") AS (
  VALUES ('*', 0, 2)
)
, "sqlanon_atoms_1" ("atom", "low", "steps") AS (
  VALUES (0, 'F', NULL), (1, 'M', NULL)
)
SELECT
  CAST(CAST("sqlanon_atoms_0"."low" AS INT128) + (CAST(MD5_NUMBER_UPPER('7/0/' || "sqlanon_rows"."sqlanon_number") % "sqlanon_atoms_0"."steps" AS BIGINT) * 1) AS BIGINT) AS "age",
  CAST("sqlanon_atoms_1"."low" AS TEXT) AS "sex",
  "sqlanon_rows"."outcome" AS "outcome"
FROM "sqlanon_rows"
JOIN "sqlanon_groups_0" ON "sqlanon_rows"."age" COLLATE "binary" = CAST("sqlanon_groups_0"."label" AS TEXT)
JOIN "sqlanon_atoms_0" ON "sqlanon_atoms_0"."atom" = "sqlanon_groups_0"."first" + CAST(MD5_NUMBER_LOWER('7/0/' || "sqlanon_rows"."sqlanon_number") % "sqlanon_groups_0"."size" AS BIGINT)
JOIN "sqlanon_groups_1" ON "sqlanon_rows"."sex" COLLATE "binary" = CAST("sqlanon_groups_1"."label" AS TEXT)
JOIN "sqlanon_atoms_1" ON "sqlanon_atoms_1"."atom" = "sqlanon_groups_1"."first" + CAST(MD5_NUMBER_LOWER('7/1/' || "sqlanon_rows"."sqlanon_number") % "sqlanon_groups_1"."size" AS BIGINT)
