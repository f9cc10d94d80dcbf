-- reads:  generalized: the rows as they are released, with the person whom each is about
-- yields: unsafe_classes: the classes of fewer than k people
-- No window counts distinct people on every database.
-- the classes of fewer than k people
unsafe_classes AS (
  SELECT
    {{ class_columns | cells }},
    TRUE AS is_unsafe
  FROM generalized
  GROUP BY {{ class_columns | ordinals }}
  HAVING {{ people | sql }} < {{ k }}
)
