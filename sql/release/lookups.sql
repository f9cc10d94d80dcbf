-- reads:  the lists of columns that have too many groups for a CASE; each list precedes the
--         statement as a query with VALUES
-- yields: the joins of the source with these lists
-- At most one row of a list meets the condition, so a join keeps the number of rows. A list of
-- values is joined by equality. A list of intervals is joined by low <= value < high, or, if the
-- database supports ASOF, by the nearest low at or below the value. A list may also hold groups
-- of single values; then the condition, or the released expression, also checks that the value
-- is at most high.
{% for list in lists %}
{% if list.is_nearest %}ASOF {% endif %}LEFT JOIN {{ list.name | identifier }}
  ON {{ list.condition | sql }}
{% endfor %}

