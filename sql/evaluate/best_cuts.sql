-- reads:  what cuts.sql reads; bounds, by node and column the atoms low..high-1 of the node
-- yields: per node the cuts that take most off the loss of its region, best first
-- Of the edges in a gap without rows a cut takes the one that leaves more rows in less.
WITH
{% include "evaluate/cuts.sql" %},
gains AS (
  SELECT
    cuts.*,
    cuts.price * (
      before_n_rows * (bounds.high - edges.atom) + after_n_rows * (edges.atom - bounds.low)
    ) AS gain
  FROM cuts
  JOIN edges USING (col, segment)
  JOIN bounds USING (node, col)
)
SELECT node, col, segment, before_size, after_size, gain
FROM gains
QUALIFY ROW_NUMBER() OVER (PARTITION BY node ORDER BY gain DESC, col, segment) <= {{ most }}
ORDER BY node, gain DESC, col, segment
