-- reads:  the audited table
-- yields: one row per class size, in rows and in people: the number of classes
SELECT
  n_rows,
  n_people,
  COUNT(*) AS n_classes
FROM (
  SELECT
    {{ quasi | columns }},
    COUNT(*) AS n_rows,
    {{ people | sql }} AS n_people
  FROM {{ source | sql }}
  GROUP BY {{ quasi | ordinals }}
) AS classes
GROUP BY n_rows, n_people
