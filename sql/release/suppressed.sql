-- reads:  the rows of the source as they are released before any is suppressed, and the staged
--         table
-- yields: one row per class that has fewer rows in the staged table: how many are missing there
SELECT
  {{ classes | names }},
  CAST(SUM(n) AS BIGINT) AS n_rows
FROM (
  SELECT
    {{ classes | columns }},
    COUNT(*) AS n
  FROM {{ rows | sql }}
  GROUP BY {{ classes | ordinals }}
  UNION ALL
  SELECT
    {{ classes | columns }},
    -COUNT(*) AS n
  FROM {{ staged | sql }}
  GROUP BY {{ classes | ordinals }}
) AS counted
GROUP BY {{ classes | ordinals }}
HAVING SUM(n) > 0
