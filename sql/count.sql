-- reads:  the source
-- yields: one row per distinct tuple of atoms (q0, q1, …) and further values (v0, …): its rows
SELECT
  {{ tuples | columns(2) }},
  {{ n_rows | sql }} AS n_rows
FROM {{ source | sql }}
GROUP BY {{ tuples | ordinals }}
