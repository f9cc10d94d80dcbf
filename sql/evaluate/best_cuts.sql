-- reads:  open_rows, one row per atom tuple of a node that may still be cut: the segment of its
--         value in every column (v0, v1, …), and what is counted of it; open_movers, where people
--         have rows in several tuples, these rows with their person; bounds, by node and
--         column, the atoms low..high-1 of the node; edges, by column and segment its first atom;
--         columns, by column what an atom costs a row, and the segment of NULL, or -1
-- yields: per node the cut that takes most off the loss, if one leaves both sides large enough and
--         no side violates a model: segments before `segment` are one side, the others the other
-- A segment is what lies between two places where a column may be cut. Only integers are summed
-- and compared, so that the same rows have the same cuts on every machine.
WITH segments AS (  -- every segment of every column in every node, in one scan
  SELECT
    node,
    {{ column | sql }} AS col,
    {{ segment | sql }} AS segment,
    {{ counted | columns }}
  FROM open_rows
  GROUP BY GROUPING SETS ({{ sets | cells }})
),
{% if moves %}
each_person AS (    -- of those who have rows in several tuples: where their rows begin and end
  SELECT
    node,
    mover,
    {{ first_and_last | columns }}
  FROM open_movers
  GROUP BY node, mover
),
moving AS (         -- a person is before a cut from the first of their rows on, after it to the last
  SELECT node, col, segment, SUM(n_first)::BIGINT AS n_first, SUM(n_last)::BIGINT AS n_last
  FROM (
    SELECT
      node,
      UNNEST({{ numbers | sql }}) AS col,
      UNNEST({{ first | sql }}) AS segment,
      1 AS n_first,
      0 AS n_last
    FROM each_person
    UNION ALL
    SELECT node, UNNEST({{ numbers | sql }}), UNNEST({{ last | sql }}), 0, 1
    FROM each_person
  ) AS ends
  GROUP BY ALL
),
{% endif %}
sides AS (          -- what lies on either side of a cut after each segment
  SELECT
    node,
    col,
    segment AS last_before,
    LEAD(segment) OVER up AS first_after,
    MAX(segment) OVER (PARTITION BY node, col) AS highest,
    {{ before_and_after | columns }}
  FROM segments
{% if moves %}
  LEFT JOIN moving USING (node, col, segment)
{% endif %}
  WINDOW
    up AS (PARTITION BY node, col ORDER BY segment),
    before AS (
      PARTITION BY node, col ORDER BY segment
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ),
    after AS (
      PARTITION BY node, col ORDER BY segment
      ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    )
),
unpacked AS (
  SELECT
    node, col, last_before, first_after, highest,
    {{ unpacked | columns }}
  FROM sides
  WHERE first_after IS NOT NULL
),
reached AS (
  SELECT
    *,
    {{ measured | columns }}
  FROM unpacked
),
cuts AS (           -- of the edges in a gap without rows, the one that takes most off
  SELECT
    reached.node,
    reached.col,
    CASE WHEN before_n_rows >= after_n_rows THEN last_before + 1 ELSE first_after END AS segment,
    before_n_rows, after_n_rows, before_size, after_size
  FROM reached
  JOIN columns USING (col)
  WHERE NOT ({{ violated | sql }})
    AND (highest <> null_segment OR first_after = null_segment)  -- NULL is parted first
),
gains AS (
  SELECT
    cuts.*,
    columns.price * (
      before_n_rows * (bounds.high - edges.atom) + after_n_rows * (edges.atom - bounds.low)
    ) AS gain
  FROM cuts
  JOIN columns USING (col)
  JOIN edges USING (col, segment)
  JOIN bounds USING (node, col)
)
SELECT node, col, segment, before_size, after_size
FROM gains
QUALIFY ROW_NUMBER() OVER (PARTITION BY node ORDER BY gain DESC, col, segment) = 1
ORDER BY node
