-- reads:  the audited table
-- yields: one row per size of class, in people: the most people of one class that share a value
--         of a sensitive column, and the fewest distinct values in one class; NULL is a value
SELECT
  size,
  MAX(largest) AS largest,
  MIN(n_values) AS n_values
FROM (
  SELECT
    CAST(SUM(CASE WHEN is_class = 1 THEN n ELSE 0 END) AS BIGINT) AS size,
    MAX(CASE WHEN is_class = 0 THEN n END) AS largest,
    CAST(SUM(1 - is_class) AS BIGINT) AS n_values
  FROM (
    SELECT
      "age" AS q0,
      "the ""town"" of" COLLATE "binary" AS q1,
      "score" + 0.0 AS q2,
      "ill" COLLATE "binary" AS v,
      0 AS is_class,
      COUNT(DISTINCT "who") AS n
    FROM "visits"
    GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT
      "age",
      "the ""town"" of" COLLATE "binary",
      "score" + 0.0,
      NULL,
      1,
      COUNT(DISTINCT "who")
    FROM "visits"
    GROUP BY 1, 2, 3
  ) AS counted
  GROUP BY q0, q1, q2
) AS classes
GROUP BY size
