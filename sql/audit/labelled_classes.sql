-- reads:  the audited table, or a population that is generalized like it
-- yields: one row per class, its values as text: rows and people
SELECT
  {{ texts | columns(2) }},
  n_rows,
  n_people
FROM (
  SELECT
    {{ quasi | columns }},
    COUNT(*) AS n_rows,
    {{ people | sql }} AS n_people
  FROM {{ source | sql }}
  GROUP BY {{ quasi | ordinals }}
) AS classes
