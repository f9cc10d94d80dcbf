-- reads:  the lists of columns whose groups are too many for a CASE; each stands above the
--         statement, as a query with VALUES
-- yields: the joins of the source with them
-- At most one row of a list meets the condition, so a join keeps the number of rows. A list of
-- values is joined by equality. A list of intervals is joined by low <= value < high, or, where
-- the database has such a join, by the nearest low at or below the value: that is what ASOF does.
-- A list may also have groups of single values; then the condition, or what is released, asks
-- whether the value is at most high too.
{% for list in lists %}
{% if list.is_nearest %}ASOF {% endif %}LEFT JOIN {{ list.name | identifier }}
  ON {{ list.condition | sql }}
{% endfor %}

