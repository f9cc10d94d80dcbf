-- reads:  the audited table
-- yields: its smallest classes, values as text; run only if values are requested
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
ORDER BY n_people, n_rows, {{ texts | ordinals }}
LIMIT {{ limit }}
