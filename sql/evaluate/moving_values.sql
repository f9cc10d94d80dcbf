-- reads:  {{ values | identifier }}: the sensitive values of people who are in several tuples,
--         each with what one person adds to p0, p1, …; the part candidates above
-- yields: moving_values: each of these values once per person and class
, moving_values AS (
  SELECT
    {{ keys | names }},
    {{ one_value | columns }}
  FROM (
    SELECT DISTINCT
      {{ keys | columns(6) }},
      {{ packed | names }},
      mover,
      column_number,
      value
    FROM {{ values | identifier }}, candidates
  )
  GROUP BY ALL
)
