-- reads:  {{ table | identifier }}, as for best_cuts.sql; chosen, by node the column and the segment of its cut,
--         the nodes of its two sides, and which of these may still be cut
-- yields: the rows of the sides that may still be cut, each at its new node
SELECT
  CASE WHEN {{ segment | sql }} < chosen.segment THEN chosen.first ELSE chosen.second END AS node,
  {{ kept | names(table) }}
FROM {{ table | identifier }}
JOIN chosen USING (node)
WHERE CASE WHEN {{ segment | sql }} < chosen.segment THEN first_open ELSE second_open END
