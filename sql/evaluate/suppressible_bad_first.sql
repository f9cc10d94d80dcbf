-- reads:  the parts judged and sizes above
-- yields: as suppressible.sql, but bad classes may be suppressed whatever their size, and come
--         before the others
-- params: as suppressible.sql
, smallest AS (
  SELECT candidate, bad, size
  FROM (
    SELECT
      candidate, bad, size,
      SUM(n_rows) OVER (PARTITION BY candidate ORDER BY bad DESC, size) AS up_to
    FROM sizes
    WHERE bad = 1 OR size < {{ below | sql }}
  )
  WHERE up_to <= {{ budget | sql }}
)
SELECT
  candidate,
  bad,
  size,
  0 AS is_class,
  {{ no_key | columns(2) }},
  {{ of_class | names }}
FROM sizes
UNION ALL
SELECT
  smallest.candidate,
  smallest.bad,
  judged.size,
  1 AS is_class,
  {{ keys | names }},
  {{ of_class | columns(2) }}
FROM judged
JOIN smallest
  ON smallest.candidate = k0 >> {{ first_word_bits }}
  AND smallest.size = judged.size
  AND smallest.bad = judged.bad::BIGINT
