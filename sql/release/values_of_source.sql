-- reads:  the source, including rows that are left out of the release
-- yields: per value of one sensitive column: the people with that value, the sum of these counts
--         over all values, the number of values, and the place of the value in their order
-- Columns that no model needs are left out.
SELECT
  {{ value | sql }} AS value,
  {{ people | sql }} AS people,
  SUM({{ people | sql }}) OVER () AS total,
  COUNT(*) OVER () AS values,
  ROW_NUMBER() OVER (ORDER BY {{ value | sql }}) AS leaf
FROM {{ source | sql }}
{% if subject is not none %}WHERE {{ subject | sql }} IS NOT NULL{% endif %}

GROUP BY 1
