-- reads:  the source
-- yields: the values of one column that its declared range does not cover, most rows first
SELECT
  {{ value | sql }} AS value,
  {{ n_rows | sql }} AS n_rows
FROM {{ source | sql }}
WHERE {{ atom | sql }} = -1
GROUP BY 1
ORDER BY 2 DESC, 1
