-- reads:  counts: the people of each class by value; source: the people of the source by value,
--         and their total
-- yields: per class Σ_i |Σ_{j≤i} (p_j − q_j)| / (m − 1) over the m values of the source in order
-- Between two values of a class, its cumulated share P is constant and that of the source, Q,
-- grows: so P − Q changes its sign at most once, at the turn where Q passes P. The query visits
-- only the values and the turns of a class, and sums the differences between two of these by
-- `area`, the cumulated Q.
WITH
-- the values of the source in order, each with the people before it
places AS (
  SELECT
    value,
    total,
    ROW_NUMBER() OVER (ORDER BY value IS NULL, value) AS place,
    SUM(people) OVER (ORDER BY value IS NULL, value) - people AS before
  FROM source
),
-- with the sum of these people up to each value
line AS (
  SELECT value, total, place, before, SUM(before) OVER (ORDER BY place ASC) AS area
  FROM places
),
-- the values of each class; mark: so many people of the source have the share of the class so far
held AS (
  SELECT
    counts.class,
    line.total,
    line.place,
    line.area,
    counts.people,
    SUM(counts.people) OVER (PARTITION BY counts.class ORDER BY line.place ASC) * line.total
    // SUM(counts.people) OVER (PARTITION BY counts.class) AS mark
  FROM counts
  JOIN line ON {{ same_value | sql }}
),
-- the places of the source and the marks of the classes, on one scale of people
marks AS (
  SELECT NULL AS class, total, before AS mark, place, area FROM line
  UNION ALL
  SELECT class, total, mark, NULL, NULL FROM held
),
-- for every mark the last value that begins there or before
turns AS (
  SELECT
    class,
    total,
    MAX(place) OVER (ORDER BY mark ASC) AS place,
    MAX(area) OVER (ORDER BY mark ASC) AS area
  FROM marks
),
-- the values and the turns of each class; its last turn is the last place of all
stops AS (
  SELECT class, total, place, area, people FROM held
  UNION ALL
  SELECT class, total, place, area, 0 FROM turns
  WHERE class IS NOT NULL
),
-- with the next stop, and the people of the class so far
steps AS (
  SELECT
    class,
    total,
    place,
    area,
    SUM(SUM(people)) OVER (PARTITION BY class) AS class_total,
    SUM(SUM(people)) OVER (PARTITION BY class ORDER BY place ASC) AS held,
    LEAD(place) OVER (PARTITION BY class ORDER BY place ASC) AS next_place,
    LEAD(area) OVER (PARTITION BY class ORDER BY place ASC) AS next_area
  FROM stops
  GROUP BY 1, 2, 3, 4
)
SELECT  -- up to its first value a class has held nothing
  class,
  CAST(
    MIN(class_total * area)
    + COALESCE(SUM(ABS(held * total * (next_place - place) - class_total * (next_area - area))), 0)
  AS DOUBLE) / (MAX(class_total * total) * GREATEST(MAX(place) - 1, 1)) AS distance
FROM steps
GROUP BY 1
