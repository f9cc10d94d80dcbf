-- reads:  the source
-- yields: the values of one column outside its declared range, most frequent first
SELECT
  {{ value | sql }} AS value,
  {{ n_rows | sql }} AS n_rows
FROM {{ source | sql }}
WHERE {{ atom | sql }} = -1
GROUP BY 1
ORDER BY 2 DESC, 1
