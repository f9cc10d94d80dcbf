-- reads:  a population
-- yields: one row: its people
SELECT {{ people | sql }} AS n_people
FROM {{ source | sql }}
