-- reads:  {{ movers | identifier }}: the tuples of people who are in several;
--         the part candidates above
-- yields: moving: each of these people once per class, even if in several of its tuples
, moving AS (
  SELECT
    {{ keys | names }},
    {{ one_person | columns }}
  FROM (
    SELECT DISTINCT
      {{ keys | columns(6) }},
      mover
    FROM {{ movers | identifier }}, candidates
  )
  GROUP BY ALL
)
