-- reads:  a staged table with a label column
-- yields: one row: the number of rows with the most frequent label of their class; NULL is a label
--         too; rows that are marked as suppressed are in no class
SELECT CAST(COALESCE(SUM(n_most), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    "q0", "q1",
    MAX(n_rows) AS n_most
  FROM (
    SELECT
      "the ""town"" of" COLLATE "binary" AS "q0",
      "age" AS "q1",
      "ill" COLLATE "binary" AS label,
      COUNT(*) AS n_rows
    FROM "visits"
    WHERE NOT ("the ""town"" of" COLLATE "binary" IS NOT DISTINCT FROM 'rome')
    GROUP BY 1, 2, 3
  ) AS labelled
  GROUP BY 1, 2
) AS classes
