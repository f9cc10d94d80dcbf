-- reads:  the source
-- yields: the release without the classes of fewer than k rows
WITH
-- one row per row of the source, as it is released
generalized AS (
{% include "release/generalized.sql" %}

),
{% include counted_rows %}
SELECT
  {{ names | names("counted") }}
FROM counted
WHERE counted.people >= {{ k }}
ORDER BY {{ order | cells }}
