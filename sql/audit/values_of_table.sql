-- reads:  a table, as a whole
-- yields: one row per distinct value of one of its columns, as text: how many people have it;
--         NULL is a value
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
