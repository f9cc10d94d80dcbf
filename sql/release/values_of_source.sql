-- reads:  the source, also rows that are left out of the release
-- yields: per value of one sensitive column: how many people have it, how many that is of all
--         values, how many values there are, and the place of the value in their order
-- Columns that no model reads are left out.
SELECT
  {{ value | sql }} AS value,
  {{ people | sql }} AS people,
  SUM({{ people | sql }}) OVER () AS total,
  COUNT(*) OVER () AS values,
  ROW_NUMBER() OVER (ORDER BY {{ value | sql }}) AS leaf
FROM {{ source | sql }}
{% if subject is not none %}WHERE {{ subject | sql }} IS NOT NULL{% endif %}

GROUP BY 1
