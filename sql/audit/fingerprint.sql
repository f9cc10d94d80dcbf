-- reads:  a table
-- yields: one row: its rows, those whose values only one row or person has, and by quarter of the
--         rows' hashes their sums. A row is hashed as the length and the text of every value; NULL
--         has the length -1. Equal rows are hashed once and count as often as they occur
SELECT
  CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n_rows,
  CAST(COALESCE(SUM(CASE WHEN is_unique = 1 THEN n ELSE 0 END), 0) AS BIGINT) AS n_unique,
{% for number in numbers %}
  SUM(n * {{ number | sql }}) AS sum{{ loop.index0 }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM (
  SELECT
    n,
    is_unique,
    {{ hash | sql }} AS h
  FROM (
    SELECT
{% for text in texts %}
      {{ text | sql }} AS t{{ loop.index0 }},
{% endfor %}
      n,
      is_unique
    FROM (
      SELECT
{% for value in values %}
        {{ value | sql }} AS v{{ loop.index0 }},
{% endfor %}
{% if grouped %}
        COUNT(*) AS n,
        CASE WHEN {{ one_person | sql }} THEN 1 ELSE 0 END AS is_unique
      FROM {{ source | sql }}
      GROUP BY {% for _ in values %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

{% else %}
        1 AS n,
        0 AS is_unique
      FROM {{ source | sql }}
{% endif %}
    ) AS counted
  ) AS texts
) AS hashed
