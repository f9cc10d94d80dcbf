-- reads:  what cuts.sql reads
-- yields: per node the cuts that take most off the loss, best first, where a side loses no more
--         than the box around its rows: from the lowest to the highest segment that occurs
-- A few cuts that shrink the box most in their own column are compared by the loss in all columns.
WITH
{% include "evaluate/cuts.sql" %},
shortlist AS (
  SELECT node, col, segment, before_n_rows, after_n_rows, before_size, after_size
  FROM cuts
  QUALIFY ROW_NUMBER() OVER (
    PARTITION BY node
    ORDER BY
      price * (
        before_n_rows * (extent - (atom_before - lowest_atom))
        + after_n_rows * (extent - (highest_atom - atom_after))
      ) DESC,
      col, segment
  ) <= {{ shortlist }}
),
whole AS (           -- what each row of a node loses while it is not cut
  SELECT node, {{ loss | sql }} AS loss
  FROM (SELECT node, {{ ends | columns }} FROM open_rows GROUP BY node) AS boxes
),
sides_of_cuts AS (
  SELECT
    node, col, segment, before_n_rows, after_n_rows, before_size, after_size,
    {{ own_segment | sql }} >= segment AS is_after,
    {{ ends | columns }}
  FROM open_rows
  JOIN shortlist USING (node)
  GROUP BY ALL
),
gains AS (
  SELECT
    node, col, segment, before_size, after_size,
    (
      (before_n_rows + after_n_rows) * ANY_VALUE(whole.loss)
      - SUM(CASE WHEN is_after THEN after_n_rows ELSE before_n_rows END * ({{ loss | sql }}))
    )::BIGINT AS gain
  FROM sides_of_cuts
  JOIN whole USING (node)
  GROUP BY node, col, segment, before_size, after_size, before_n_rows, after_n_rows
)
SELECT node, col, segment, before_size, after_size, gain
FROM gains
QUALIFY ROW_NUMBER() OVER (PARTITION BY node ORDER BY gain DESC, col, segment) <= {{ most }}
ORDER BY node, gain DESC, col, segment
