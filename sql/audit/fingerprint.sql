-- reads:  a table
-- yields: one row: the number of rows, the number of rows whose values only one row or person has,
--         and the sum of each quarter of the rows' hashes. A row is hashed as the length and the
--         text of every value; NULL has the length -1. Equal rows are hashed once and count as
--         often as they occur
SELECT
  CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n_rows,
  CAST(COALESCE(SUM(CASE WHEN is_unique = 1 THEN n ELSE 0 END), 0) AS BIGINT) AS n_unique,
  {{ sums | columns(2) }}
FROM (
  SELECT
    n,
    is_unique,
    {{ hash | sql }} AS h
  FROM (
    SELECT
      {{ texts | columns(6) }},
      n,
      is_unique
    FROM (
      SELECT
        {{ values | columns(8) }},
{% if grouped %}
        COUNT(*) AS n,
        CASE WHEN {{ one_person | sql }} THEN 1 ELSE 0 END AS is_unique
      FROM {{ source | sql }}
      GROUP BY {{ values | ordinals }}
{% else %}
        1 AS n,
        0 AS is_unique
      FROM {{ source | sql }}
{% endif %}
    ) AS counted
  ) AS texts
) AS hashed
