-- reads:  the audited table
-- yields: its smallest classes, values as text; run only if values are requested
SELECT
  CAST("q0" AS TEXT) AS "t0",
  CAST("q1" AS TEXT) AS "t1",
  CASE WHEN ISNAN("q2") THEN 'nan' ELSE CAST("q2" + 0.0 AS TEXT) END AS "t2",
  n_rows,
  n_people
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
ORDER BY n_people, n_rows, 1, 2, 3
LIMIT 2
