-- reads:  a table
-- yields: one row: its rows, and the sums of both halves of their hashes. A row is hashed as
--         the length and the text of every value; NULL has the length -1
SELECT
  COUNT(*) AS n_rows,
  {{ upper | sql }} AS upper_sum,
  {{ lower | sql }} AS lower_sum
FROM (
  SELECT
    {{ hash | sql }} AS h
  FROM (
    SELECT
      {{ texts | columns(6) }}
    FROM {{ source | sql }}
  ) AS texts
) AS hashed
