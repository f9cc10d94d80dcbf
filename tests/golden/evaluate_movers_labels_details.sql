-- reads:  "masks_1", as subjects.sql;
--         "masks_1_labels", one row per atom tuple and label: masks w0, w1, … and rows
-- yields: as subjects.sql, and the number of rows without the majority label of their class
-- params: as plain.sql; the two tables are never rolled up
WITH candidates AS (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "candidate",
    UNNEST(CAST($2 AS BIGINT[])) AS "b0"
),
classes AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    SUM(n_rows)::BIGINT AS n_rows,
    CAST(SUM("people") AS BIGINT) + COUNT(DISTINCT "mover") AS size
  FROM "masks_1", candidates
  GROUP BY ALL
),
parts AS (
  SELECT
    "candidate" | ("w0" & "b0") AS "k0",
    label,
    SUM(n_rows)::BIGINT AS n_rows
  FROM "masks_1_labels", candidates
  GROUP BY ALL
),
minorities AS (
  SELECT
    "k0",
    (SUM(n_rows) - MAX(n_rows))::BIGINT AS minority
  FROM parts
  GROUP BY ALL
),
sizes AS (
  SELECT
    k0 >> 53 AS candidate,
    size,
    SUM(n_rows)::BIGINT AS n_rows,
    SUM(n_rows * n_rows)::BIGINT AS n_rows_squared,
    SUM(minority)::BIGINT AS minority,
    COUNT(*) AS n_classes
  FROM classes
  JOIN minorities USING ("k0")
  GROUP BY 1, 2
)
-- reads:  the parts classes and sizes above
-- yields: with is_class = 0 the sizes; with is_class = 1 each class that may be suppressed, its
--         key and its rows. These are classes smaller than `below`, smallest sizes first, as long
--         as the rows of all classes up to a size stay within `budget`
-- params: the last two: below, budget
, smallest AS (
  SELECT candidate, size
  FROM (
    SELECT candidate, size, SUM(n_rows) OVER (PARTITION BY candidate ORDER BY size) AS up_to
    FROM sizes
    WHERE size < CAST($3 AS BIGINT)
  )
  WHERE up_to <= CAST($4 AS BIGINT)
)
SELECT
  candidate,
  size,
  0 AS is_class,
  CAST(0 AS BIGINT) AS "k0",
  "n_rows", "n_rows_squared", "minority", "n_classes"
FROM sizes
UNION ALL
SELECT
  candidate,
  classes.size,
  1 AS is_class,
  "k0",
  "classes"."n_rows" AS "n_rows",
  0 AS "n_rows_squared",
  0 AS "minority",
  1 AS "n_classes"
FROM classes
JOIN smallest ON candidate = k0 >> 53 AND smallest.size = classes.size
