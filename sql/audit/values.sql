-- reads:  a table that may be released
-- yields: one row per column: distinct values, entries with a value, entries with a unique value,
--         characters, and how many entries meet each condition (c0, c1, …). An entry is a row, or
--         a person with one value
{% for each in profiled %}
SELECT
  {{ loop.index0 }} AS place,
  COUNT(*) AS n_values,
  CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n_entries,
  CAST(COALESCE(SUM(CASE WHEN n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS n_alone,
  {{ each.texts | columns(2) }}
FROM (
  SELECT
    {{ each.value | sql }} AS v,
    {{ people | sql }} AS n
  FROM {{ source | sql }}
  WHERE {{ each.column | sql }} IS NOT NULL
  GROUP BY 1
) AS counted
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
