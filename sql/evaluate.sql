-- reads:  {{ table | identifier }}: the masks w0, w1, … of the atom tuples, with the people they hold
-- yields: per candidate scheme and class size: how many classes there are
{% if subjects %}
--         and their rows and squared rows
{% endif %}
{% if labelled %}
--         and the rows that are not of their class's majority label
{% endif %}
{% if details %}
--         then, with is_class = 1, each class that may be suppressed: its key and its rows
{% endif %}
-- params: the candidates' numbers, in their bits of word 0; their kept bits, a list a word
{% if rolled_up %}
--         the union of the kept bits, a word each
{% endif %}
{% if details %}
--         below, budget: classes smaller than `below` may be suppressed, smallest sizes first,
--         while the rows of all classes up to a size stay within `budget`
{% endif %}
-- mask & kept bits names a row's class. Only integers are summed, so their order is free.
WITH candidates AS (
  SELECT
    UNNEST($1::BIGINT[]) AS candidate{% for w in range(words) %},
    UNNEST(${{ w + 2 }}::BIGINT[]) AS b{{ w }}{% endfor %}

),
{% if rolled_up %}
tuples AS (  -- the common refinement of the candidates
  SELECT
{% for w in range(words) %}
    w{{ w }} & ${{ words + w + 2 }}::BIGINT AS w{{ w }},
{% endfor %}
{% if labelled %}
    label,
{% endif %}
{% if movers %}
    mover,
{% endif %}
{% if subjects %}
    SUM(n_rows)::BIGINT AS n_rows,
{% endif %}
    SUM(people)::BIGINT AS people
  FROM {{ table | identifier }}
  GROUP BY ALL
),
{% else %}
tuples AS (FROM {{ table | identifier }}),
{% endif %}
{% if labelled and not subjects %}
parts AS (
  SELECT
    candidate | (w0 & b0) AS k0{% for w in range(1, words) %},
    w{{ w }} & b{{ w }} AS k{{ w }}{% endfor %},
    label,
    SUM(people)::BIGINT AS people
  FROM tuples, candidates
  GROUP BY ALL
),
classes AS{% if details %} MATERIALIZED{% endif %} (
  SELECT
{% for w in range(words) %}
    k{{ w }},
{% endfor %}
    SUM(people)::BIGINT AS size,
    (SUM(people) - MAX(people))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
{% else %}
classes AS{% if details %} MATERIALIZED{% endif %} (
  SELECT
    candidate | (w0 & b0) AS k0{% for w in range(1, words) %},
    w{{ w }} & b{{ w }} AS k{{ w }}{% endfor %},
{% if subjects %}
    SUM(n_rows)::BIGINT AS n_rows,
{% endif %}
{% if movers %}
    SUM(people)::BIGINT + COUNT(DISTINCT mover) AS size
{% else %}
    SUM(people)::BIGINT AS size
{% endif %}
  FROM tuples, candidates
  GROUP BY ALL
),
{% endif %}
{% if labelled and subjects %}
parts AS (
  SELECT
    candidate | (w0 & b0) AS k0{% for w in range(1, words) %},
    w{{ w }} & b{{ w }} AS k{{ w }}{% endfor %},
    label,
    SUM(n_rows)::BIGINT AS n_rows
  FROM {{ facet | identifier }}, candidates
  GROUP BY ALL
),
minorities AS (
  SELECT
{% for w in range(words) %}
    k{{ w }},
{% endfor %}
    (SUM(n_rows) - MAX(n_rows))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
{% endif %}
sizes AS{% if details %} MATERIALIZED{% endif %} (
  SELECT
    k0 >> {{ first_word_bits }} AS candidate,
    size,
{% if subjects %}
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
{% else %}
    size * COUNT(*) AS n_rows,
{% endif %}
{% if labelled %}
    SUM(minority)::BIGINT AS minority,
{% endif %}
    COUNT(*) AS n_classes
  FROM classes
{% if labelled and subjects %}
  JOIN minorities USING (k0{% for w in range(1, words) %}, k{{ w }}{% endfor %})
{% endif %}
  GROUP BY 1, 2
){% if details %},
smallest AS (
  SELECT candidate, size
  FROM (
    SELECT candidate, size, SUM(n_rows) OVER (PARTITION BY candidate ORDER BY size) AS up_to
    FROM sizes
    WHERE size < ${{ 2 + words * (1 + rolled_up) }}::BIGINT
  )
  WHERE up_to <= ${{ 3 + words * (1 + rolled_up) }}::BIGINT
){% endif %}

SELECT
  candidate,
  size,
{% if details %}
  0 AS is_class,
{% for w in range(words) %}
  0::BIGINT AS k{{ w }},
{% endfor %}
{% endif %}
  n_rows,
{% if subjects %}
  n_rows_squared,
{% endif %}
{% if labelled %}
  minority,
{% endif %}
  n_classes
FROM sizes
{% if details %}
UNION ALL
SELECT
  candidate,
  classes.size,
  1,
{% for w in range(words) %}
  k{{ w }},
{% endfor %}
{% if subjects %}
  n_rows,
  0,
{% else %}
  classes.size,
{% endif %}
{% if labelled %}
  0,
{% endif %}
  1
FROM classes
JOIN smallest ON candidate = k0 >> {{ first_word_bits }} AND smallest.size = classes.size
{% endif %}
