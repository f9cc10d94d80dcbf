-- reads:  a table that may be released
-- yields: one row: how many values one of its columns has, or pairs of values, and the rows of
--         the most frequent one
SELECT
  COUNT(*) AS n_groups,
  CAST(COALESCE(MAX(n_rows), 0) AS BIGINT) AS n_largest,
  CAST(COALESCE(SUM(n_rows), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
{% for value in values %}
    {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
    COUNT(*) AS n_rows
  FROM {{ source | sql }}
  GROUP BY {% for _ in values %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS counted
