-- reads:  the audited table
-- yields: one row: its rows, and those that do not say whose they are
SELECT
  COUNT(*) AS n_rows,
  COUNT(*) - COUNT({{ subject | sql }}) AS n_unnamed
FROM {{ source | sql }}
