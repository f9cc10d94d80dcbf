-- reads:  {{ table | identifier }}, one row per atom tuple: its masks w0, w1, … and its people
-- yields: per candidate scheme and class size: the number of classes, and their rows
-- params: $1 the candidates' numbers, shifted to their bits of word 0; then their kept bits, one
--         list per word
-- A tuple's mask & a candidate's kept bits names the tuple's class. Only integers are summed, so
-- the order of rows does not matter.
WITH candidates AS (
  SELECT
    {{ candidates | columns }}
),
tuples AS (
{% if rolled_up %}
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    {{ masks | columns }},
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
    SUM(people)::BIGINT AS size
  FROM tuples, candidates
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> {{ first_word_bits }} AS candidate,
    size,
    size * COUNT(*) AS n_rows,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
)
{% if details %}
{% include "evaluate/suppressible.sql" %}
{% else %}
SELECT * FROM sizes
{% endif %}
