-- reads:  members: the rows by class, with the values of one sensitive column
-- yields: per class and value: the people with that value, the sum of these counts over all
--         values, and the rank of the value in its class, 1 for the most frequent one
-- Columns that no model needs are left out.
SELECT
  class,
  {{ value | sql }} AS value,
  {{ people | sql }} AS people,
  SUM({{ people | sql }}) OVER (PARTITION BY class) AS total,
  ROW_NUMBER() OVER (PARTITION BY class ORDER BY {{ people | sql }} DESC) AS rank
FROM members
GROUP BY 1, 2
