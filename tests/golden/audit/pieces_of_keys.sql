-- reads:  a staged table with a column of pseudonyms
-- yields: one row: the rows whose pseudonym holds a piece of its key
-- params: the pieces, by name, so that no log shows them
SELECT COUNT(*) AS n_rows
FROM "hashed"
WHERE STRPOS("p", $piece_0) > 0 OR STRPOS("p", $piece_1) > 0 OR STRPOS("p", $piece_2) > 0
