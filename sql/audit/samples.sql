-- reads:  the audited table
-- yields: rows of its smallest classes, values as text; run only if values are requested
SELECT
  {{ texts | names }}
FROM (
  SELECT
    {{ quasi | columns }},
    {{ texts | columns }}
  FROM {{ source | sql }}
) AS members
JOIN (
  SELECT
    {{ quasi | columns }},
    COUNT(*) AS n_rows,
    {{ people | sql }} AS n_people
  FROM {{ source | sql }}
  GROUP BY {{ quasi | ordinals }}
  ORDER BY {{ quasi | length + 2 }}, {{ quasi | length + 1 }}, {{ quasi | ordinals }}
  LIMIT {{ limit }}
) AS classes
  ON {{ is_member | sql }}
ORDER BY
  classes.n_people, classes.n_rows,
  {{ quasi | names("members") }},
  {{ texts | ordinals }}
LIMIT {{ limit }}
