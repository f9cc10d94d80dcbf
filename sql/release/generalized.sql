-- reads:  the source or the population, and the lists that its columns are looked up in
-- yields: one row per row of it, every column as it is released: a CASE over the value, what the
--         list has for it, a hash with a key, or the value itself
-- Where rows with a value of no group are left out, all values of the others are covered.
SELECT
  {{ released | columns }}
FROM {{ source | sql }}
{% include "release/lookups.sql" %}
{% if covered is not none %}WHERE {{ covered | sql }}{% endif %}
