-- reads:  a released table, or one that is to be released
-- yields: one row per distinct value of one column, or pair of values of two columns: its rows,
--         and how many of them are marked as suppressed
SELECT
  {{ values | columns(2) }},
  COUNT(*) AS n_rows,
  {{ n_marked | sql }} AS n_marked
FROM {{ source | sql }}
GROUP BY {{ values | ordinals }}
