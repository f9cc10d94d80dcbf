-- reads:  {{ population | identifier }}: the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source
-- yields: with kind = 2 the people of the population in each class of a candidate scheme, even in
--         classes without a row
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
