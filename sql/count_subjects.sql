-- reads:  the source
-- yields: one row: how many people there are, and how many rows do not say whose they are
SELECT
  COUNT(DISTINCT {{ subject | sql }}) AS n_people,
  COUNT(*) - COUNT({{ subject | sql }}) AS n_unnamed
FROM {{ source | sql }}
