-- reads:  the source, whenever the view is read
-- yields: the rows of a view, without the classes of fewer than k rows
-- The database may evaluate a reader's conditions before those of the view, on rows that the view
-- leaves out. There they see only NULL: every column is in a CASE on a count over the row's class,
-- and no condition on the result of a window is evaluated below the window.
WITH
-- one row per row of the source, as it is released
generalized AS (
{% include "release/generalized.sql" %}

),
{% include "release/counted_rows.sql" %}
SELECT
{% for name in names %}
  CASE WHEN counted.people >= {{ k }} THEN counted.{{ name | identifier }} END AS {{ name | identifier }},
{% endfor %}
FROM counted
WHERE counted.people >= {{ k }}
ORDER BY {{ order | cells }}
