-- reads:  the audited table
-- yields: one row per size that a class has, in rows and in people: how many classes
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
