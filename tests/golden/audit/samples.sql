-- reads:  the audited table
-- yields: rows of its smallest classes, values as text; only where values were asked for
SELECT
  "t0", "t1", "t2", "t3", "t4"
FROM (
  SELECT
    "age" AS "q0",
    "the ""town"" of" COLLATE "binary" AS "q1",
    "score" + 0.0 AS "q2",
    CAST("who" AS TEXT) AS "t0",
    CAST("age" AS TEXT) AS "t1",
    CAST("the ""town"" of" AS TEXT) AS "t2",
    CAST("score" AS TEXT) AS "t3",
    CAST("ill" AS TEXT) AS "t4"
  FROM "visits"
) AS members
JOIN (
  SELECT
    "age" AS "q0",
    "the ""town"" of" COLLATE "binary" AS "q1",
    "score" + 0.0 AS "q2",
    COUNT(*) AS n_rows,
    COUNT(DISTINCT "who") AS n_people
  FROM "visits"
  GROUP BY 1, 2, 3
  ORDER BY 5, 4, 1, 2, 3
  LIMIT 2
) AS classes
  ON "members"."q0" IS NOT DISTINCT FROM "classes"."q0" AND "members"."q1" IS NOT DISTINCT FROM "classes"."q1" AND "members"."q2" IS NOT DISTINCT FROM "classes"."q2"
ORDER BY
  classes.n_people, classes.n_rows,
  "members"."q0", "members"."q1", "members"."q2",
  1, 2, 3, 4, 5
LIMIT 2
