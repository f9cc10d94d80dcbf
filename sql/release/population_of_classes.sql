-- reads:  classes: every class with its number; the population, generalized like the source
-- yields: per class how many people of the population fit it
WITH
-- one row per row of the population, by its class
population AS (
{% include "release/generalized.sql" %}

)
SELECT
  classes.class,
  {{ people | sql }} AS people
FROM population
JOIN classes ON {{ in_class | sql }}
GROUP BY 1
