-- reads:  the source, which has several rows per subject
-- yields: as count_people.sql, for each value of one further column (v0); a subject is
--         counted once for each of its values
WITH counted AS (
  SELECT
    CASE WHEN "age" IS NULL THEN NULL WHEN "age" < 0 OR "age" > 70 THEN -1 WHEN "age" >= 50 THEN 2 ELSE (CAST("age" AS BIGINT) - 0) // 25 END AS "q0",
    "home town" COLLATE "binary" AS "q1",
    CASE WHEN "born" IS NULL THEN NULL WHEN "born" < CAST('2000-01-01' AS DATE) OR "born" > CAST('2002-07-01' AS DATE) THEN -1 WHEN "born" >= CAST('2002-01-01' AS DATE) THEN 2 ELSE (((EXTRACT(year FROM "born") * 12) + EXTRACT(month FROM "born")) - 24001) // 12 END AS "q2",
    "score" + 0.0 AS "q3",
    CASE WHEN "floor" IS NULL THEN NULL WHEN "floor" < 0 OR "floor" > 3 THEN -1 WHEN "floor" < 1.5 THEN CASE WHEN "floor" < 0.5 THEN 0 WHEN "floor" < 1 THEN 1 ELSE 2 END WHEN "floor" < 2 THEN 3 WHEN "floor" < 2.5 THEN 4 ELSE 5 END AS "q4",
    "label" COLLATE "binary" AS v0,
    "who" AS subject,
    COUNT(*) AS n_rows
  FROM "people"
  GROUP BY 1, 2, 3, 4, 5, 6, 7
),
tuples AS (
  SELECT
    "q0", "q1", "q2", "q3", "q4",
    subject
  FROM counted
  GROUP BY "q0", "q1", "q2", "q3", "q4", subject
),
places AS (
  SELECT
    subject,
    subject AS person,
    COUNT(*) AS n_tuples
  FROM tuples
  GROUP BY subject
)
SELECT
  "q0", "q1", "q2", "q3", "q4",
  v0,
  CASE WHEN n_tuples > 1 THEN person END AS mover,
  COUNT(*) AS n_people,
  CAST(SUM(n_rows) AS BIGINT) AS n_rows
FROM counted
JOIN places ON places.subject = counted.subject
GROUP BY 1, 2, 3, 4, 5, 6, 7
