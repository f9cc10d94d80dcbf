-- reads:  the part totals above: the counts of every class, several counts per word
-- yields: the classes by candidate, badness and size; on request also those that may be suppressed
, classes AS (
  SELECT
    {{ keys | names }},
    {{ unpacked | columns }}
  FROM totals
{% if has_population %}
  WHERE size > 0  -- without classes of the population alone
{% endif %}
),
reached AS (
  SELECT
    {{ keys | names }},
    size,
    n_rows,
    {{ measured | columns }}
  FROM classes
),
judged AS (
  SELECT
    *,
    {{ violated | sql }} AS bad
  FROM reached
),
sizes AS (
  SELECT
    k0 >> {{ first_word_bits }} AS candidate,
    bad::BIGINT AS bad,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    {{ worst | columns }},
    COUNT(*) AS n_classes
  FROM judged
  GROUP BY 1, 2, 3
)
{% if details %}
{% include "evaluate/suppressible_bad_first.sql" %}
{% else %}
SELECT * FROM sizes
{% endif %}
