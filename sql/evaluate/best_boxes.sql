-- reads:  what cuts.sql reads
-- yields: per node the cut that leaves the least loss, if there is a cut, where a side loses no
--         more than the box around its rows: from the lowest to the highest segment that occurs
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
sides_of_cuts AS (
  SELECT
    node, col, segment, before_n_rows, after_n_rows, before_size, after_size,
    {{ own_segment | sql }} >= segment AS is_after,
    {{ ends | columns }}
  FROM open_rows
  JOIN shortlist USING (node)
  GROUP BY ALL
),
losses AS (
  SELECT
    node, col, segment, before_size, after_size,
    SUM(
      CASE WHEN is_after THEN after_n_rows ELSE before_n_rows END * ({{ loss | sql }})
    )::BIGINT AS loss
  FROM sides_of_cuts
  GROUP BY ALL
)
SELECT node, col, segment, before_size, after_size
FROM losses
QUALIFY ROW_NUMBER() OVER (PARTITION BY node ORDER BY loss, col, segment) = 1
ORDER BY node
