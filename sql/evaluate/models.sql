-- reads:  {{ table | identifier }}, one row per atom tuple: its masks w0, w1, …; in p0, p1, …
--         its people and the number of people per sensitive value, several counts per word; if
--         the models need no more, words with one bit per value that occurs
-- yields: per candidate scheme, badness and class size: the classes, their rows and squared rows,
--         and what the worst of them reaches in each model (s0, s1, …). A class is bad if it
--         violates a model or is smaller than the required k
-- params: $1 the candidates' numbers, shifted to their bits of word 0; then their kept bits, one
--         list per word
-- A tuple's mask & a candidate's kept bits names the tuple's class. Only integers are summed over
-- rows and classes.
WITH candidates AS (
  SELECT
    {{ candidates | columns }}
),
tuples AS (
{% if rolled_up %}
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    {{ masks | columns }},
    {{ sums | columns }}
  FROM {{ table | identifier }}
  GROUP BY ALL
{% else %}
  FROM {{ table | identifier }}
{% endif %}
),
totals AS (
  SELECT
    {{ keys | columns }},
    {{ sums | columns }}
  FROM tuples, candidates
  GROUP BY ALL
)
{% include "evaluate/judged.sql" %}
