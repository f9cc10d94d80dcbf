-- reads:  a table that may be released
-- yields: one row per list of columns: the number of rows whose combination of values only one
--         row, or only one person, has
{% for values in lists %}
SELECT
  {{ loop.index0 }} AS place,
  CAST(COALESCE(SUM(n_rows), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    {{ values | columns }},
    COUNT(*) AS n_rows
  FROM {{ source | sql }}
  GROUP BY {{ values | ordinals }}
  HAVING {{ one_person | sql }}
) AS alone
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
