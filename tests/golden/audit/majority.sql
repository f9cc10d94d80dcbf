-- reads:  a staged table with a column that is released to be predicted
-- yields: one row: the rows that have the most frequent label of their class, NULL being one too;
--         rows that are marked as suppressed are in no class
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
