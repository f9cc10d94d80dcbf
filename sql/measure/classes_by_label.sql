-- reads:  generalized: the rows of the source by their groups, with their labels
-- yields: labelled, classes
-- the rows of every class by label, and its people beside them
labelled AS (
  SELECT
    {{ class_columns | cells }},
    COUNT(*) AS n_rows,
    0 AS people
  FROM generalized
  GROUP BY {{ class_columns | ordinals }}, {{ label | sql }}
  UNION ALL
  SELECT
    {{ class_columns | cells }},
    0 AS n_rows,
    {{ people | sql }} AS people
  FROM generalized
  GROUP BY {{ class_columns | ordinals }}
),
-- every class with its rows, its people, and the rows without its most frequent label
classes AS (
  SELECT
    {{ class_columns | cells }},
    SUM(n_rows) AS n_rows,
    SUM(people) AS people,
    SUM(n_rows) - MAX(n_rows) AS minority
  FROM labelled
  GROUP BY {{ class_columns | ordinals }}
),
