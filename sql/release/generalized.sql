-- reads:  the source or the population, and the lists in which its columns are looked up
-- yields: one row per row read, every column as released: a CASE over the value, its label in
--         the list, a keyed hash, or the value itself
-- If rows whose value belongs to no group are left out, every remaining value has a group.
SELECT
  {{ released | columns }}
FROM {{ source | sql }}
{% include "release/lookups.sql" %}
{% if covered is not none %}WHERE {{ covered | sql }}{% endif %}
