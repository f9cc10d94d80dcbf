-- reads:  the people of each class by value; the people of the source by value, and their total
-- yields: per class Σ_i |Σ_{j≤i} (p_j − q_j)| / (m − 1) over the m values of the source in order
-- Between two values of a class, its cumulated share P stays, and that of the source Q grows: what
-- they differ by changes its sign once, at the turn where Q passes P. So a class is looked at at
-- its values and its turns only, and between two of these the differences are summed by `area`,
-- which cumulates Q.
WITH {{ places | identifier }} AS (  -- the source's values in order, each with the people before it
  SELECT
    value,
    total,
    ROW_NUMBER() OVER (ORDER BY value IS NULL, value) AS place,
    SUM(people) OVER (ORDER BY value IS NULL, value) - people AS before
  FROM {{ source | identifier }}
), {{ line | identifier }} AS (
  SELECT value, total, place, before, SUM(before) OVER (ORDER BY place ASC) AS area
  FROM {{ places | identifier }}
), {{ held | identifier }} AS (  -- mark: so many people of the source have the class's share up to here
  SELECT
    counts.{{ number | identifier }},
    line.total,
    line.place,
    line.area,
    counts.people,
    SUM(counts.people) OVER (PARTITION BY counts.{{ number | identifier }} ORDER BY line.place ASC) * line.total
    // SUM(counts.people) OVER (PARTITION BY counts.{{ number | identifier }}) AS mark
  FROM {{ counts | identifier }} AS counts
  JOIN {{ line | identifier }} AS line ON {{ same_value | sql }}
), {{ marks | identifier }} AS (  -- both on one scale of people
  SELECT NULL AS {{ number | identifier }}, total, before AS mark, place, area FROM {{ line | identifier }}
  UNION ALL
  SELECT {{ number | identifier }}, total, mark, NULL, NULL FROM {{ held | identifier }}
), {{ turns | identifier }} AS (  -- for every mark the last value that begins there or before
  SELECT
    {{ number | identifier }},
    total,
    MAX(place) OVER (ORDER BY mark ASC) AS place,
    MAX(area) OVER (ORDER BY mark ASC) AS area
  FROM {{ marks | identifier }}
), {{ stops | identifier }} AS (  -- the last turn of a class is the last place of all
  SELECT {{ number | identifier }}, total, place, area, people FROM {{ held | identifier }}
  UNION ALL
  SELECT {{ number | identifier }}, total, place, area, 0 FROM {{ turns | identifier }}
  WHERE NOT {{ number | identifier }} IS NULL
), {{ steps | identifier }} AS (
  SELECT
    {{ number | identifier }},
    total,
    place,
    area,
    SUM(SUM(people)) OVER (PARTITION BY {{ number | identifier }}) AS class_total,
    SUM(SUM(people)) OVER (PARTITION BY {{ number | identifier }} ORDER BY place ASC) AS held,
    LEAD(place) OVER (PARTITION BY {{ number | identifier }} ORDER BY place ASC) AS next_place,
    LEAD(area) OVER (PARTITION BY {{ number | identifier }} ORDER BY place ASC) AS next_area
  FROM {{ stops | identifier }}
  GROUP BY 1, 2, 3, 4
), {{ order | identifier }} AS (  -- up to its first value a class has held nothing
  SELECT
    {{ number | identifier }},
    CAST(
      MIN(class_total * area)
      + COALESCE(SUM(ABS(held * total * (next_place - place) - class_total * (next_area - area))), 0)
    AS DOUBLE) / (MAX(class_total * total) * GREATEST(MAX(place) - 1, 1)) AS distance
  FROM {{ steps | identifier }}
  GROUP BY 1
)
SELECT * FROM {{ order | identifier }}
