-- reads:  the parts classes and sizes above
-- yields: with is_class = 0 the sizes; with is_class = 1 each class that may be suppressed, its
--         key and its rows. These are classes smaller than `below`, smallest sizes first, as long
--         as the rows of all classes up to a size stay within `budget`
-- params: the last two: below, budget
, smallest AS (
  SELECT candidate, size
  FROM (
    SELECT candidate, size, SUM(n_rows) OVER (PARTITION BY candidate ORDER BY size) AS up_to
    FROM sizes
    WHERE size < {{ below | sql }}
  )
  WHERE up_to <= {{ budget | sql }}
)
SELECT
  candidate,
  size,
  0 AS is_class,
  {{ no_key | columns(2) }},
  {{ of_class | names }}
FROM sizes
UNION ALL
SELECT
  candidate,
  classes.size,
  1 AS is_class,
  {{ keys | names }},
  {{ of_class | columns(2) }}
FROM classes
JOIN smallest ON candidate = k0 >> {{ first_word_bits }} AND smallest.size = classes.size
