-- reads:  a released table, or one that is to be released
-- yields: one row per distinct value of one of its columns, or pair of values of two: rows, and
--         those of them that are marked as suppressed
SELECT
  {{ values | columns(2) }},
  COUNT(*) AS n_rows,
  {{ n_marked | sql }} AS n_marked
FROM {{ source | sql }}
GROUP BY {{ values | ordinals }}
