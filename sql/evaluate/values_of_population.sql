-- reads:  {{ population | identifier }}: the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source
-- yields: with kind = 2 how many people of the population are in a class of a candidate scheme,
--         whether the class holds a row or not
SELECT
  {{ keys | columns(2) }},
  2 AS kind,
  0 AS column_number,
  0 AS value,
  {{ residents | sql }} AS people,
  0::BIGINT AS n_rows
FROM {{ population | identifier }}, candidates
{% if fits %}
WHERE {{ fits | sql }}
{% endif %}
GROUP BY ALL
