-- reads:  a staged table
-- yields: one row: the rows that are marked as suppressed, and their people
SELECT
  COUNT(*) AS n_rows,
  {{ people | sql }} AS n_people
FROM {{ source | sql }}
WHERE {{ is_marked | sql }}
