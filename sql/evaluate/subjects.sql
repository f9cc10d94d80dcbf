-- reads:  {{ table | identifier }}, one row per atom tuple and mover: masks w0, w1, …, people and
--         rows; a mover is a person in several tuples
-- yields: per candidate scheme and class size, in people: the classes, their rows, squared rows
-- params: as plain.sql
WITH candidates AS (
  SELECT
    {{ candidates | columns }}
),
tuples AS (
{% if rolled_up %}
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    {{ masks | columns }},
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(people)::BIGINT AS people
  FROM {{ table | identifier }}
  GROUP BY ALL
{% else %}
  FROM {{ table | identifier }}
{% endif %}
),
classes AS (
  SELECT
    {{ keys | columns }},
    SUM(n_rows)::BIGINT AS n_rows,
    {{ people | sql }} AS size
  FROM tuples, candidates
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> {{ first_word_bits }} AS candidate,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
)
{% if details %}
{% include "evaluate/suppressible.sql" %}
{% else %}
SELECT * FROM sizes
{% endif %}
