-- reads:  {{ table | identifier }}, one row per atom tuple and label: masks w0, w1, … and people
-- yields: as plain.sql, and the number of rows without the majority label of their class
-- params: as plain.sql
WITH candidates AS (
  SELECT
    {{ candidates | columns }}
),
tuples AS (
{% if rolled_up %}
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    {{ masks | columns }},
    label,
    SUM(people)::BIGINT AS people
  FROM {{ table | identifier }}
  GROUP BY ALL
{% else %}
  FROM {{ table | identifier }}
{% endif %}
),
parts AS (
  SELECT
    {{ keys | columns }},
    label,
    SUM(people)::BIGINT AS people
  FROM tuples, candidates
  GROUP BY ALL
),
classes AS (
  SELECT
    {{ keys | names }},
    SUM(people)::BIGINT AS size,
    (SUM(people) - MAX(people))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> {{ first_word_bits }} AS candidate,
    size,
    size * COUNT(*) AS n_rows,
    SUM(minority)::BIGINT AS minority,
    COUNT(*) AS n_classes
  FROM classes
  GROUP BY 1, 2
)
{% if details %}
{% include "evaluate/suppressible.sql" %}
{% else %}
SELECT * FROM sizes
{% endif %}
