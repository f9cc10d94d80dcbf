-- reads:  the audited table
-- yields: rows of its smallest classes, values as text; run only if values are requested
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
  ON COALESCE(CAST("members"."q0" AS TEXT), '') COLLATE "binary" = COALESCE(CAST("classes"."q0" AS TEXT), '') COLLATE "binary" AND CASE WHEN "members"."q0" IS NULL THEN 1 ELSE 0 END = CASE WHEN "classes"."q0" IS NULL THEN 1 ELSE 0 END AND COALESCE(CAST("members"."q1" AS TEXT), '') COLLATE "binary" = COALESCE(CAST("classes"."q1" AS TEXT), '') COLLATE "binary" AND CASE WHEN "members"."q1" IS NULL THEN 1 ELSE 0 END = CASE WHEN "classes"."q1" IS NULL THEN 1 ELSE 0 END AND COALESCE(CASE WHEN ISNAN("members"."q2") THEN 'nan' ELSE CAST("members"."q2" + 0.0 AS TEXT) END, '') COLLATE "binary" = COALESCE(CASE WHEN ISNAN("classes"."q2") THEN 'nan' ELSE CAST("classes"."q2" + 0.0 AS TEXT) END, '') COLLATE "binary" AND CASE WHEN "members"."q2" IS NULL THEN 1 ELSE 0 END = CASE WHEN "classes"."q2" IS NULL THEN 1 ELSE 0 END
ORDER BY
  classes.n_people, classes.n_rows,
  "members"."q0", "members"."q1", "members"."q2",
  1, 2, 3, 4, 5
LIMIT 2
