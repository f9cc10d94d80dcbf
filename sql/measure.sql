-- reads:  the source, and the lists that its columns are looked up in
-- yields: one row: what a scheme measures to, k and every loss and bias that has a cell for it
-- Sums are whole numbers; the ratios stand in the last SELECT. A group of a column is called by
-- its label, and a cell in it loses |g| - 1 of the |S| - 1 other values of the column.
WITH
-- one row per row of the source: the groups that its values are in
generalized AS (
{% include "release/generalized.sql" %}

),
-- all rows and people, and the rows with a value of no group, whose scores mean nothing
source_counts AS (
  SELECT
    COUNT(*) AS source_rows,
    {{ people | sql }} AS source_people,
    {{ uncovered | sql }} AS uncovered
  FROM generalized
),
{% include classes %}

-- the sizes that classes have, with the rows of all classes up to each size
sizes AS (
  SELECT
    people,
    SUM(SUM(n_rows)) OVER (ORDER BY people) AS rows_up_to
  FROM classes
  GROUP BY people
),
-- the classes but those left out: sizes below k, the smallest first, while their rows fit the limit
released AS (
  SELECT
    {{ measured | cells }},
    {{ lost | columns }}
  FROM classes
  JOIN sizes ON sizes.people = classes.people
  CROSS JOIN source_counts
  WHERE
    classes.people >= {{ k }}
    OR sizes.rows_up_to * {{ limit_parts }} > {{ limit }} * {{ rows_in_limit | sql }}
),
-- what the released classes add up to
totals AS (
  SELECT
    COUNT(*) AS classes,
    COALESCE(MIN(people), 0) AS k,
    COALESCE(MAX(people), 0) AS k_max,
    COALESCE(SUM(n_rows), 0) AS released_rows,
    {{ sums | columns }}
  FROM released
),
-- the numbers from which every score follows; no division of the losses is one of whole numbers
counted AS (
  SELECT
    CAST(k AS BIGINT) AS k,
    CAST(k_max AS BIGINT) AS k_max,
    classes,
    CAST(source_rows - released_rows AS BIGINT) AS suppressed,
    {{ counted | cells }},
    source_rows,
    source_people,
    uncovered
  FROM totals
  CROSS JOIN source_counts
)
SELECT
  k,
  k_max,
  classes,
  suppressed,
  {{ scores | columns }},
  source_rows,
  source_people,
  CAST(uncovered AS BIGINT) AS uncovered
FROM counted
