-- reads:  the rows of the source as released before suppression, and the staged table
-- yields: one row per class that has fewer rows in the staged table: the number of missing rows
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
