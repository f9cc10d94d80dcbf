-- reads:  the source, and the lists that its columns are looked up in
-- yields: one row per row of it: what the release needs of its columns, the place of every column
--         that the cut tree parts in the order of its values, and node 1, where all rows begin
-- A row with a value that belongs to no group has no node.
SELECT
  {{ kept | columns }},
  {{ places | columns }},
  {{ root | sql }} AS region
FROM {{ source | sql }}
{% include "release/lookups.sql" %}
