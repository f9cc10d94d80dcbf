-- reads:  a table where it lives: the source of a policy, or a release of it
-- yields: one row per distinct tuple of the columns, and in sqlanon_rows how many rows have it
-- A column with a declared range is there with one of its values for each interval, the least.
WITH
-- what is counted of every row, and the intervals of declared ranges
placed AS (
  SELECT
    {{ placed | columns }}
  FROM {{ source | sql }}
)
SELECT
  {{ tuples | columns }},
  COUNT(*) AS sqlanon_rows
FROM placed
GROUP BY {{ grouped | cells }}
