-- reads:  the people of each class by value, and their total; those of the source, their total and a
--         number for each value; the node of each value of the hierarchy on every level between
--         the values and the root
-- yields: per class the earth mover's distance: what the nodes of each level below the root have
--         too much, in parts of all levels
-- A value that is not in the tree, and NULL, is a leaf of its own directly under the root.
WITH {{ nodes | identifier }} AS (
  SELECT value, people, total, 0 AS level, leaf AS node FROM {{ source | identifier }}
{% for title in titles %}
  UNION ALL
  SELECT
    source.value, source.people, source.total,
    {{ loop.index }} AS level,
    COALESCE(tree.{{ title | identifier }}, -source.leaf) AS node
  FROM {{ source | identifier }} AS source
  LEFT JOIN {{ tree | identifier }} AS tree ON {{ equal_value | sql }}
{% endfor %}
), {{ node_source | identifier }} AS (
  SELECT level, node, SUM(people) AS people, MAX(total) AS total
  FROM {{ nodes | identifier }}
  GROUP BY 1, 2
), {{ node_counts | identifier }} AS (
  SELECT
    counts.{{ number | identifier }},
    nodes.level,
    nodes.node,
    SUM(counts.people) AS people,
    MAX(counts.total) AS total
  FROM {{ counts | identifier }} AS counts
  JOIN {{ nodes | identifier }} AS nodes ON {{ same_value | sql }}
  GROUP BY 1, 2, 3
), {{ levels | identifier }} AS (
  SELECT
    counts.{{ number | identifier }},
    CAST(SUM(GREATEST(counts.people * source.total - counts.total * source.people, 0)) AS DOUBLE)
    / ({{ height }} * MAX(counts.total * source.total)) AS distance
  FROM {{ node_counts | identifier }} AS counts
  JOIN {{ node_source | identifier }} AS source
    ON counts.level = source.level AND counts.node = source.node
  GROUP BY 1
)
SELECT * FROM {{ levels | identifier }}
