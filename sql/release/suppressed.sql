-- reads:  the rows of the source as they are released before any is suppressed, and the staged
--         table
-- yields: one row per class that has fewer rows in the staged table: how many are missing there
SELECT
{% for _ in classes %}
  q{{ loop.index0 }},
{% endfor %}
  CAST(SUM(n) AS BIGINT) AS n_rows
FROM (
  SELECT
{% for value in classes %}
    {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
    COUNT(*) AS n
  FROM {{ rows | sql }}
  GROUP BY {% for _ in classes %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

  UNION ALL
  SELECT
{% for value in classes %}
    {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
    -COUNT(*) AS n
  FROM {{ staged | sql }}
  GROUP BY {% for _ in classes %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS counted
GROUP BY {% for _ in classes %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

HAVING SUM(n) > 0
