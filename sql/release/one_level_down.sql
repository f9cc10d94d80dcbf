-- reads:  rows at nodes of a cut tree, and its splits
-- yields: the same rows, each at the node that the split of its own leads to
-- A row of the splits reads: what is at node 17 goes on at node 18 if its place in column 2 is
-- below 5, else at node 19. A node without a split is a region, where rows stay.
SELECT
  {{ names | names("nodes") }},
  CASE
    WHEN splits.node IS NULL THEN nodes.region
    WHEN {{ place | sql }} < splits.below THEN splits.yes
    ELSE splits.no
  END AS region
FROM nodes
LEFT JOIN splits
  ON splits.node = nodes.region
