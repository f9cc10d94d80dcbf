-- reads:  a released table, or one that is to be released
-- yields: one row per distinct value of one of its columns, or pair of values of two: rows, and
--         those of them that are marked as suppressed
SELECT
{% for value in values %}
  {{ value | sql }} AS v{{ loop.index0 }},
{% endfor %}
  COUNT(*) AS n_rows,
{% if is_marked %}
  CAST(SUM(CASE WHEN {{ is_marked | sql }} THEN 1 ELSE 0 END) AS BIGINT) AS n_marked
{% else %}
  0 AS n_marked
{% endif %}
FROM {{ source | sql }}
GROUP BY {% for _ in values %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

