-- reads:  a staged release
-- yields: one row per distinct value of one of its columns: rows
SELECT
  {{ value | sql }} AS v,
  COUNT(*) AS n_rows
FROM {{ source | sql }}
GROUP BY 1
