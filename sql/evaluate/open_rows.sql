-- reads:  incoming, one row per atom tuple: its node, the segment of its value in every column, and
--         what is counted of it
-- yields: the same, tuples of the same segments together
SELECT
  {{ keys | names }},
  {{ counted | columns }}
FROM incoming
GROUP BY ALL
