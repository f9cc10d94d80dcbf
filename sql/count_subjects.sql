-- reads:  the source
-- yields: one row: the number of people, and of rows without a subject
SELECT
  COUNT(DISTINCT {{ subject | sql }}) AS n_people,
  COUNT(*) - COUNT({{ subject | sql }}) AS n_unnamed
FROM {{ source | sql }}
