-- reads:  the audited table
-- yields: one row per class size, in rows and in people: the number of classes
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
