-- reads:  the source
-- yields: one row per row of it: what the release needs of its columns, and in which region of
--         the cut tree the row lies
-- A row with a value that belongs to no group has no region.
SELECT
  {{ kept | columns }},
  {{ region | sql }} AS region
FROM {{ source | sql }}
