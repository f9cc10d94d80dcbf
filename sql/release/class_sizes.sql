-- reads:  a release, as the query that builds it, so that the release need not be built
-- yields: one row per class: its quasi-identifiers and the number of its rows
SELECT
  {{ class_columns | cells }},
  COUNT(*) AS n_rows
FROM {{ release | sql }}
GROUP BY {{ class_columns | ordinals }}
