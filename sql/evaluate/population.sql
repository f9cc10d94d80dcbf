-- reads:  {{ population | identifier }}: the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source;
--         the part candidates above
-- yields: population: its people in the classes of the candidates, even in classes without a row
, residents AS (
{% if rolled_up %}
  SELECT
    {{ population_masks | columns }},
    SUM(people)::BIGINT AS people
  FROM {{ population | identifier }}
  GROUP BY ALL
{% else %}
  FROM {{ population | identifier }}
{% endif %}
),
population AS (
  SELECT
    {{ keys | columns }},
    {{ residents | columns }}
  FROM residents, candidates
{% if fits %}
  WHERE {{ fits | sql }}
{% endif %}
  GROUP BY ALL
)
