-- reads:  the source, whenever the view is read
-- yields: the rows of a view, without the classes that have too few people or violate a model
-- The database may evaluate a reader's conditions before those of the view, on rows that the view
-- leaves out. There they see only NULL: every column is in a CASE on a count over the row's class,
-- and no condition on the result of a window is evaluated below the window. A condition on a
-- joined column could be evaluated early, so a window also counts the rows that joined an unsafe
-- class.
WITH
-- one row per row of the source, as it is released
generalized AS (
{% include "release/generalized.sql" %}

),
{% include unsafe_classes %}

,
-- every row with the number of rows of its class that met an unsafe class: none or all
counted AS (
  SELECT
    {{ names | names("generalized") }},
    COUNT(unsafe_classes.is_unsafe) OVER (PARTITION BY {{ class | cells }}) AS unsafe_rows
  FROM generalized
  LEFT JOIN unsafe_classes ON {{ in_unsafe_class | sql }}
)
SELECT
{% for name in names %}
  CASE WHEN counted.unsafe_rows = 0 THEN counted.{{ name | identifier }} END AS {{ name | identifier }},
{% endfor %}
FROM counted
WHERE counted.unsafe_rows = 0
ORDER BY {{ order | cells }}
