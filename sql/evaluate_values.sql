-- reads:  {{ table | identifier }}: the masks w0, w1, … of the atom tuples, the people and rows they
--         hold; {{ values | identifier }}: the same for each value of each sensitive column
{% if population %}
--         {{ population | identifier }}: the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source
{% endif %}
-- yields: the classes of the candidate schemes by their keys: with kind = 0 a class, its people
--         and rows; with kind = 1 a value in it, how many people have it and in how many rows
{% if population %}
--         with kind = 2 how many people of the population are in it, be it a class or not
{% endif %}
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
-- mask & kept bits names a row's class.
{% if movers or population_moves %}
-- People in several tuples have a number, and count once.
{% endif %}
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate{% for w in range(words) %},
    UNNEST(${{ w + 2 }}::BIGINT[]) AS b{{ w }}{% endfor %}

)
SELECT
  candidate | (w0 & b0) AS k0,
{% for w in range(1, words) %}
  w{{ w }} & b{{ w }} AS k{{ w }},
{% endfor %}
  0 AS kind,
  0 AS column_number,
  0 AS value,
{% if movers %}
  SUM(people)::BIGINT + COUNT(DISTINCT mover) AS people,
{% else %}
  SUM(people)::BIGINT AS people,
{% endif %}
  SUM(n_rows)::BIGINT AS n_rows
FROM {{ table | identifier }}, candidates
GROUP BY ALL
UNION ALL
SELECT
  candidate | (w0 & b0) AS k0,
{% for w in range(1, words) %}
  w{{ w }} & b{{ w }} AS k{{ w }},
{% endfor %}
  1 AS kind,
  column_number,
  value,
{% if movers %}
  SUM(people)::BIGINT + COUNT(DISTINCT mover) AS people,
{% else %}
  SUM(people)::BIGINT AS people,
{% endif %}
  SUM(n_rows)::BIGINT AS n_rows
FROM {{ values | identifier }}, candidates
GROUP BY ALL
{% if population %}
UNION ALL
SELECT
  candidate | (w0 & b0) AS k0,
{% for w in range(1, words) %}
  w{{ w }} & b{{ w }} AS k{{ w }},
{% endfor %}
  2 AS kind,
  0 AS column_number,
  0 AS value,
{% if population_moves %}
  SUM(people)::BIGINT + COUNT(DISTINCT mover) AS people,
{% else %}
  SUM(people)::BIGINT AS people,
{% endif %}
  0::BIGINT AS n_rows
FROM {{ population | identifier }}, candidates
{% if fits %}
WHERE {{ fits }}
{% endif %}
GROUP BY ALL
{% endif %}
