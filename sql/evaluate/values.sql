-- reads:  {{ table | identifier }}, one row per atom tuple and mover: its masks w0, w1, …, people
--         and rows; {{ values | identifier }}: the same for each value of each sensitive column
-- yields: the classes of the candidate schemes by their keys: with kind = 0 a class, its people
--         and rows; with kind = 1 a value in it, the people with that value and their rows
-- params: $1 the candidates' numbers, shifted to their bits of word 0; then their kept bits, one
--         list per word
-- A tuple's mask & a candidate's kept bits names the tuple's class. People in several tuples, the
-- movers, have a number and count once.
WITH candidates AS (
  SELECT
    {{ candidates | columns }}
)
SELECT
  {{ keys | columns(2) }},
  0 AS kind,
  0 AS column_number,
  0 AS value,
  {{ people | sql }} AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM {{ table | identifier }}, candidates
GROUP BY ALL
UNION ALL
SELECT
  {{ keys | columns(2) }},
  1 AS kind,
  column_number,
  value,
  {{ people | sql }} AS people,
  SUM(n_rows)::BIGINT AS n_rows
FROM {{ values | identifier }}, candidates
GROUP BY ALL
{% if population %}
UNION ALL
{% include "evaluate/values_of_population.sql" %}
{% endif %}
