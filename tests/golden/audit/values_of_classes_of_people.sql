-- reads:  the audited table
-- yields: with is_class = 0, one row per class and value of a sensitive column, as text: the
--         people in the class with that value; NULL is a value. With is_class = 1, one row per
--         class: its people and rows
SELECT
  DENSE_RANK() OVER (ORDER BY "q0", "q1", "q2") AS class,
  is_class,
  CAST("v" AS TEXT) AS t,
  n,
  n_rows
FROM (
  SELECT
    "age" AS "q0",
    "the ""town"" of" COLLATE "binary" AS "q1",
    "score" + 0.0 AS "q2",
    "ill" COLLATE "binary" AS v,
    0 AS is_class,
    COUNT(DISTINCT "who") AS n,
    COUNT(*) AS n_rows
  FROM "visits"
  GROUP BY 1, 2, 3, 4
  UNION ALL
  SELECT
    "age" AS "q0",
    "the ""town"" of" COLLATE "binary" AS "q1",
    "score" + 0.0 AS "q2",
    NULL AS v,
    1 AS is_class,
    COUNT(DISTINCT "who") AS n,
    COUNT(*) AS n_rows
  FROM "visits"
  GROUP BY 1, 2, 3
) AS counted
