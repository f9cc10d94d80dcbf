-- reads:  what cuts.sql reads
-- yields: as best_boxes.sql, where the loss in the column that is cut alone decides
WITH
{% include "evaluate/cuts.sql" %},
gains AS (
  SELECT
    *,
    price * (
      before_n_rows * (extent - (atom_before - lowest_atom))
      + after_n_rows * (extent - (highest_atom - atom_after))
    ) AS gain
  FROM cuts
)
SELECT node, col, segment, before_size, after_size, gain
FROM gains
QUALIFY ROW_NUMBER() OVER (PARTITION BY node ORDER BY gain DESC, col, segment) = 1
ORDER BY node
