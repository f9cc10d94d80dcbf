-- reads:  open_rows, one row per atom tuple of a node that may still be cut: the segment of its
--         value in every column (v0, v1, …), and what is counted of it; open_movers, where people
--         have rows in several tuples, these rows with their person; edges, by column and segment
--         its first and last atom; columns, by column the segment of NULL, or -1
-- yields: the queries up to `cuts`: the cuts that leave both sides large enough and violate no
--         model on either side, with the segments and the atoms that rows have around them
-- A segment is what lies between two places where a column may be cut. Only integers are summed
-- and compared, so that the same rows have the same cuts on every machine.
segments AS (  -- every segment of every column in every node, in one scan
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
    MIN(segment) OVER whole AS lowest,
    MAX(segment) OVER whole AS highest,
    MIN(atom) OVER whole AS lowest_atom,
    last_atom AS atom_before,
    LEAD(atom) OVER up AS atom_after,
    MAX(last_atom) OVER whole AS highest_atom,
    {{ before_and_after | columns }}
  FROM segments
  JOIN edges USING (col, segment)
{% if moves %}
  LEFT JOIN moving USING (node, col, segment)
{% endif %}
  WINDOW
    whole AS (PARTITION BY node, col),
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
    node, col, last_before, first_after, lowest, highest,
    lowest_atom, atom_before, atom_after, highest_atom,
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
cuts AS (
  SELECT
    reached.*,
    columns.price,
    CASE
      WHEN highest = null_segment AND lowest < null_segment THEN columns.last_atom
      ELSE highest_atom - lowest_atom
    END AS extent,
    CASE WHEN before_n_rows >= after_n_rows THEN last_before + 1 ELSE first_after END AS segment
  FROM reached
  JOIN columns USING (col)
  WHERE NOT ({{ violated | sql }})
    AND (highest <> null_segment OR first_after = null_segment)  -- NULL is parted first
)
