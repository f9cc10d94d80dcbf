-- reads:  a release whose generalized columns hold the labels of their groups
-- yields: one row per released row; a generalized column holds a value drawn from its group
-- The number of a row decides the draw. Rows that tie in the order are equal.
WITH {{ rows | identifier }} AS (
  SELECT
    *,
    ROW_NUMBER() OVER (ORDER BY {{ order | ascending }}) AS {{ number | identifier }}
  FROM ({{ release | sql }}) AS released
)
{% for column in drawn %}
, {{ column.groups_name | identifier }} ("label", "first", "size") AS (
  VALUES {{ column.groups | cells }}
)
, {{ column.atoms_name | identifier }} ("atom", "low", "steps") AS (
  VALUES {{ column.atoms | cells }}
)
{% endfor %}
SELECT
  {{ values | columns(2) }}
FROM {{ rows | identifier }}
{% for column in drawn %}
JOIN {{ column.groups_name | identifier }} ON {{ column.is_in_group | sql }}
JOIN {{ column.atoms_name | identifier }} ON {{ column.is_drawn | sql }}
{% endfor %}
