-- reads:  a staged table with a column of pseudonyms
-- yields: one row: the rows whose pseudonym holds a piece of its key
-- params: the pieces, by name, so that no log shows them
SELECT COUNT(*) AS n_rows
FROM {{ source | sql }}
WHERE {{ holds_piece | sql }}
