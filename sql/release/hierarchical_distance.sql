-- reads:  counts: the people of each class by value, and their total; source: the same for the
--         source, with a number for each value; tree: for each value of the hierarchy its node on
--         every level between the values and the root
-- yields: per class the earth mover's distance: the excess of the nodes on each level below the
--         root, summed over the levels and divided by their number
-- NULL, and a value that is not in the tree, is a leaf directly under the root.
WITH
-- every value of the source as a node of every level
nodes AS (
  SELECT value, people, total, 0 AS level, leaf AS node FROM source
{% for title in titles %}
  UNION ALL
  SELECT
    source.value,
    source.people,
    source.total,
    {{ loop.index }} AS level,
    COALESCE(tree.{{ title | identifier }}, -source.leaf) AS node
  FROM source
  LEFT JOIN tree ON {{ equal_value | sql }}
{% endfor %}
),
-- the people of the source by node
node_source AS (
  SELECT level, node, SUM(people) AS people, MAX(total) AS total
  FROM nodes
  GROUP BY 1, 2
),
-- the people of each class by node
node_counts AS (
  SELECT
    counts.class,
    nodes.level,
    nodes.node,
    SUM(counts.people) AS people,
    MAX(counts.total) AS total
  FROM counts
  JOIN nodes ON {{ same_value | sql }}
  GROUP BY 1, 2, 3
)
SELECT
  node_counts.class,
  CAST(SUM(GREATEST(
    node_counts.people * node_source.total - node_counts.total * node_source.people, 0
  )) AS DOUBLE) / ({{ height }} * MAX(node_counts.total * node_source.total)) AS distance
FROM node_counts
JOIN node_source ON node_counts.level = node_source.level AND node_counts.node = node_source.node
GROUP BY 1
