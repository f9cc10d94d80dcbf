-- reads:  a staged table with a label column
-- yields: one row: the number of rows with the most frequent label of their class; NULL is a label
--         too; rows that are marked as suppressed are in no class
SELECT CAST(COALESCE(SUM(n_most), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    "q0",
    MAX(n_rows) AS n_most
  FROM (
    SELECT
      "score" + 0.0 AS "q0",
      "ill" COLLATE "binary" AS label,
      COUNT(*) AS n_rows
    FROM "visits"
    GROUP BY 1, 2
  ) AS labelled
  GROUP BY 1
) AS classes
