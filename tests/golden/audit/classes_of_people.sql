-- reads:  the audited table
-- yields: one row per size that a class has, in rows and in people: how many classes
SELECT
  n_rows,
  n_people,
  COUNT(*) AS n_classes
FROM (
  SELECT
    "age" AS "q0",
    "the ""town"" of" COLLATE "binary" AS "q1",
    "score" + 0.0 AS "q2",
    COUNT(*) AS n_rows,
    COUNT(DISTINCT "who") AS n_people
  FROM "visits"
  GROUP BY 1, 2, 3
) AS classes
GROUP BY n_rows, n_people
