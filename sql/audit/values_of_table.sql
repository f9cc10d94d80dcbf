-- reads:  a table, as a whole
-- yields: one row per distinct value of one column, as text: the people with that value; NULL is
--         a value
SELECT
  {{ text | sql }} AS t,
  n
FROM (
  SELECT
    {{ value | sql }} AS v,
    {{ people | sql }} AS n
  FROM {{ source | sql }}
  GROUP BY 1
) AS counted
