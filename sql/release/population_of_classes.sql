-- reads:  classes: every class with its number; the population, generalized like the source
-- yields: per class the number of people of the population who match it
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
