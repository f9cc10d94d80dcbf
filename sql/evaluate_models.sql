-- reads:  {{ table | identifier }}: the masks w0, w1, … of the atom tuples, and in p0, p1, … how many
--         people they hold and how many have which sensitive values, several counts to a word
{% if held %}
--         and in {% for word in held %}{{ word | identifier }}{% if not loop.last %}, {% endif %}{% endfor %} which sensitive values occur, one bit each
{% endif %}
{% if movers %}
--         {{ movers | identifier }}: the tuples of people who are in several
{% endif %}
{% if moving_values %}
--         {{ moving_values | identifier }}: the values that they have there
{% endif %}
{% if population %}
--         {{ population | identifier }}: the people of the population by tuples, and which kept
--         bits a scheme must not have to take a tuple with a value that is not in the source
{% endif %}
-- yields: per candidate scheme, whether a class violates a model or is smaller than the required
--         k, and class size: how many classes there are, their rows and squared rows, and what
--         the worst of them reaches of each model (s0, s1, …)
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
--         below, budget: classes that violate come first, then those smaller than `below`,
--         each the smallest sizes first, while all their rows stay within `budget`
{% endif %}
-- mask & kept bits names a row's class. Only integers are summed over rows and classes.
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
{% for sum in sums if sum != "population" %}
    {{ sums[sum] }}({{ sum | identifier }})::BIGINT AS {{ sum | identifier }}{% if not loop.last %},{% endif %}

{% endfor %}
  FROM {{ table | identifier }}
  GROUP BY ALL
),
{% else %}
tuples AS (FROM {{ table | identifier }}),
{% endif %}
counts AS (
  SELECT
    candidate | (w0 & b0) AS k0,
{% for w in range(1, words) %}
    w{{ w }} & b{{ w }} AS k{{ w }},
{% endfor %}
{% for sum in sums %}
    {{ sums[sum] }}({{ 0 if sum == "population" else sum | identifier }})::BIGINT AS {{ sum | identifier }}{% if not loop.last %},{% endif %}

{% endfor %}
  FROM tuples, candidates
  GROUP BY ALL
),
{% if movers %}
moving AS (  -- once a class, however many of its tuples they are in
  SELECT
{% for w in range(words) %}
    k{{ w }},
{% endfor %}
{% for sum in sums %}
    {{ sums[sum] }}({{ 1 if loop.first else 0 }})::BIGINT AS {{ sum | identifier }}{% if not loop.last %},{% endif %}

{% endfor %}
  FROM (
    SELECT DISTINCT
      candidate | (w0 & b0) AS k0,
{% for w in range(1, words) %}
      w{{ w }} & b{{ w }} AS k{{ w }},
{% endfor %}
      mover
    FROM {{ movers | identifier }}, candidates
  )
  GROUP BY ALL
),
{% endif %}
{% if moving_values %}
moving_values AS (  -- and once for every value that they have in it
  SELECT
{% for w in range(words) %}
    k{{ w }},
{% endfor %}
{% for sum in sums %}
    {{ sums[sum] }}({% if sum in packed %}{{ sum | identifier }}{% else %}0{% endif %})::BIGINT AS {{ sum | identifier }}{% if not loop.last %},{% endif %}

{% endfor %}
  FROM (
    SELECT DISTINCT
      candidate | (w0 & b0) AS k0,
{% for w in range(1, words) %}
      w{{ w }} & b{{ w }} AS k{{ w }},
{% endfor %}
{% for sum in packed %}
      {{ sum | identifier }},
{% endfor %}
      mover,
      column_number,
      value
    FROM {{ moving_values | identifier }}, candidates
  )
  GROUP BY ALL
),
{% endif %}
{% if population %}
{% if rolled_up %}
citizens AS (
  SELECT
{% for name in population_masks %}
{% for w in range(words) %}
    {{ (name ~ w) | identifier }} & ${{ words + w + 2 }}::BIGINT AS {{ (name ~ w) | identifier }},
{% endfor %}
{% endfor %}
{% if population_moves %}
    mover,
{% endif %}
    SUM(people)::BIGINT AS people
  FROM {{ population | identifier }}
  GROUP BY ALL
),
{% else %}
citizens AS (FROM {{ population | identifier }}),
{% endif %}
population AS (  -- in the classes of the candidates, whether they hold a row or not
  SELECT
    candidate | (w0 & b0) AS k0,
{% for w in range(1, words) %}
    w{{ w }} & b{{ w }} AS k{{ w }},
{% endfor %}
{% for sum in sums if sum != "population" %}
    {{ sums[sum] }}(0)::BIGINT AS {{ sum | identifier }},
{% endfor %}
    SUM(people)::BIGINT{% if population_moves %} + COUNT(DISTINCT mover){% endif %} AS population
  FROM citizens, candidates
{% if fits %}
  WHERE {{ fits }}
{% endif %}
  GROUP BY ALL
),
{% endif %}
totals AS (
{% if movers or population %}
  SELECT
{% for w in range(words) %}
    k{{ w }},
{% endfor %}
{% for sum in sums %}
    {{ sums[sum] }}({{ sum | identifier }})::BIGINT AS {{ sum | identifier }}{% if not loop.last %},{% endif %}

{% endfor %}
  FROM (
    FROM counts
{% if movers %}
    UNION ALL FROM moving
{% endif %}
{% if moving_values %}
    UNION ALL FROM moving_values
{% endif %}
{% if population %}
    UNION ALL FROM population
{% endif %}
  )
  GROUP BY ALL
{% else %}
  FROM counts
{% endif %}
),
classes AS (
  SELECT
{% for w in range(words) %}
    k{{ w }},
{% endfor %}
{% if subjects %}
    n_rows,
{% else %}
    p0 & {{ mask }} AS n_rows,
{% endif %}
{% if population %}
    population,
{% endif %}
{% for word in held %}
    {{ word | identifier }},
{% endfor %}
{% for field in fields %}
    (p{{ field.word }} >> {{ field.shift }}) & {{ mask }} AS {{ field.name | identifier }},
{% endfor %}
    p0 & {{ mask }} AS size
  FROM totals
{% if population %}
  WHERE p0 & {{ mask }} > 0
{% endif %}
),
reached AS (
  SELECT
{% for w in range(words) %}
    k{{ w }},
{% endfor %}
    n_rows,
{% if labelled %}
    n_rows - {{ majority | sql }} AS minority,
{% endif %}
{% for statistic in statistics %}
    {{ statistic | sql }} AS s{{ loop.index0 }},
{% endfor %}
    size
  FROM classes
),
judged AS{% if details %} MATERIALIZED{% endif %} (
  SELECT
    *,
    {{ violated | sql }} AS bad
  FROM reached
),
sizes AS{% if details %} MATERIALIZED{% endif %} (
  SELECT
    k0 >> {{ first_word_bits }} AS candidate,
    bad::BIGINT AS bad,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
{% if labelled %}
    SUM(minority)::BIGINT AS minority,
{% endif %}
{% for worst in worsts %}
    {{ worst }}(s{{ loop.index0 }})::DOUBLE AS s{{ loop.index0 }},
{% endfor %}
    COUNT(*) AS n_classes
  FROM judged
  GROUP BY 1, 2, 3
){% if details %},
smallest AS (
  SELECT candidate, bad, size
  FROM (
    SELECT
      candidate, bad, size,
      SUM(n_rows) OVER (PARTITION BY candidate ORDER BY bad DESC, size) AS up_to
    FROM sizes
    WHERE bad = 1 OR size < ${{ 2 + words * (1 + rolled_up) }}::BIGINT
  )
  WHERE up_to <= ${{ 3 + words * (1 + rolled_up) }}::BIGINT
){% endif %}

SELECT
  candidate,
  bad,
  size,
{% if details %}
  0 AS is_class,
{% for w in range(words) %}
  0::BIGINT AS k{{ w }},
{% endfor %}
{% endif %}
  n_rows,
  n_rows_squared,
{% if labelled %}
  minority,
{% endif %}
{% for _ in worsts %}
  s{{ loop.index0 }},
{% endfor %}
  n_classes
FROM sizes
{% if details %}
UNION ALL
SELECT
  smallest.candidate,
  smallest.bad,
  judged.size,
  1,
{% for w in range(words) %}
  k{{ w }},
{% endfor %}
  n_rows,
  0,
{% if labelled %}
  0,
{% endif %}
{% for _ in worsts %}
  0,
{% endfor %}
  1
FROM judged
JOIN smallest
  ON smallest.candidate = k0 >> {{ first_word_bits }}
  AND smallest.size = judged.size
  AND smallest.bad = judged.bad::BIGINT
{% endif %}
