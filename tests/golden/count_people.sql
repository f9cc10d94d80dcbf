-- reads:  the source, which has several rows per subject
-- yields: one row per tuple of atoms and mover: people and rows; mover is NULL for all
--         subjects whose rows share one tuple, and names each other subject; if a collation
--         treats several spellings as one subject, mover is the first of them
WITH counted AS (
  SELECT
    CASE WHEN "age" IS NULL THEN NULL WHEN "age" < 0 OR "age" > 70 THEN -1 WHEN "age" >= 50 THEN 2 ELSE (CAST("age" AS BIGINT) - 0) // 25 END AS "q0",
    "home town" COLLATE "binary" AS "q1",
    CASE WHEN "born" IS NULL THEN NULL WHEN "born" < CAST('2000-01-01' AS DATE) OR "born" > CAST('2002-07-01' AS DATE) THEN -1 WHEN "born" >= CAST('2002-01-01' AS DATE) THEN 2 ELSE (((EXTRACT(year FROM "born") * 12) + EXTRACT(month FROM "born")) - 24001) // 12 END AS "q2",
    "score" + 0.0 AS "q3",
    CASE WHEN "floor" IS NULL THEN NULL WHEN "floor" < 0 OR "floor" > 3 THEN -1 WHEN "floor" < 1.5 THEN CASE WHEN "floor" < 0.5 THEN 0 WHEN "floor" < 1 THEN 1 ELSE 2 END WHEN "floor" < 2 THEN 3 WHEN "floor" < 2.5 THEN 4 ELSE 5 END AS "q4",
    "who" AS subject,
    COUNT(*) AS n_rows
  FROM "people"
  GROUP BY 1, 2, 3, 4, 5, 6
),
placed AS (
  SELECT
    counted.*,
    subject AS person,
    COUNT(*) OVER (PARTITION BY subject) AS n_tuples
  FROM counted
)
SELECT
  "q0", "q1", "q2", "q3", "q4",
  CASE WHEN n_tuples > 1 THEN person END AS mover,
  COUNT(*) AS n_people,
  CAST(SUM(n_rows) AS BIGINT) AS n_rows
FROM placed
GROUP BY 1, 2, 3, 4, 5, 6
