-- reads:  generalized: the rows as released, each with its subject
-- yields: unsafe_classes: the classes of fewer than k people
-- A GROUP BY, because not every database counts distinct people in a window.
-- the classes of fewer than k people
unsafe_classes AS (
  SELECT
    {{ class_columns | cells }},
    TRUE AS is_unsafe
  FROM generalized
  GROUP BY {{ class_columns | ordinals }}
  HAVING {{ people | sql }} < {{ k }}
)
