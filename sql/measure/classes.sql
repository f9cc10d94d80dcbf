-- reads:  generalized: the rows of the source by their groups
-- yields: classes
-- every class with its rows and its people
classes AS (
  SELECT
    {{ class_columns | cells }},
    COUNT(*) AS n_rows,
    {{ people | sql }} AS people
  FROM generalized
  GROUP BY {{ class_columns | ordinals }}
),
