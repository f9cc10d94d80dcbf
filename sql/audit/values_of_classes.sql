-- reads:  the audited table
-- yields: with is_class = 0, one row per class and value of a sensitive column, as text: the
--         people in the class with that value; NULL is a value. With is_class = 1, one row per
--         class: its people and rows
SELECT
  DENSE_RANK() OVER (ORDER BY {{ quasi | names }}) AS class,
  is_class,
  {{ text | sql }} AS t,
  n,
  n_rows
FROM (
  SELECT
    {{ quasi | columns }},
    {{ sensitive | sql }} AS v,
    0 AS is_class,
    {{ people | sql }} AS n,
    COUNT(*) AS n_rows
  FROM {{ source | sql }}
  GROUP BY {{ quasi | ordinals }}, {{ quasi | length + 1 }}
  UNION ALL
  SELECT
    {{ quasi | columns }},
    NULL AS v,
    1 AS is_class,
    {{ people | sql }} AS n,
    COUNT(*) AS n_rows
  FROM {{ source | sql }}
  GROUP BY {{ quasi | ordinals }}
) AS counted
