-- reads:  the source
-- yields: the release without the classes of fewer than k rows
WITH
-- one row per row of the source, as it is released
generalized AS (
{% include "release/generalized.sql" %}

),
-- every row with the number of rows in its class
counted AS (
  SELECT
    {{ names | names("generalized") }},
    COUNT(*) OVER (PARTITION BY {{ class | cells }}) AS people
  FROM generalized
)
SELECT
  {{ names | names("counted") }}
FROM counted
WHERE counted.people >= {{ k }}
ORDER BY {{ order | cells }}
