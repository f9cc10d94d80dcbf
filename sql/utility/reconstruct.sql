-- reads:  a release whose generalized columns are written by the labels of their groups
-- yields: one row per released row; a generalized column holds a value drawn from its group
-- The number of a row decides what is drawn. Rows that the order does not tell apart are equal.
WITH
  {{ rows | identifier }} AS (
    SELECT
      *,
      ROW_NUMBER() OVER (ORDER BY {% for each in order %}{{ each | sql }} ASC NULLS LAST{% if not loop.last %}, {% endif %}{% endfor %}) AS {{ number | identifier }}
    FROM ({{ release | sql }}) AS released
  )
{% for column in drawn %}
  , {{ column.groups_name | identifier }} ("label", "first", "size") AS (
    VALUES {% for label, first, size in column.groups %}({{ label | literal }}, {{ first }}, {{ size }}){% if not loop.last %}, {% endif %}{% endfor %}

  )
  , {{ column.atoms_name | identifier }} ("atom", "low", "steps") AS (
    VALUES {% for low, steps in column.atoms %}({{ loop.index0 }}, {{ low | sql }}, {{ steps | sql }}){% if not loop.last %}, {% endif %}{% endfor %}

  )
{% endfor %}
SELECT
{% for name, value in values %}
  {{ value | sql }} AS {{ name | identifier }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM {{ rows | identifier }}{% for column in drawn %}

JOIN {{ column.groups_name | identifier }}
  ON {{ column.is_in_group | sql }}
JOIN {{ column.atoms_name | identifier }}
  ON {{ column.atoms_name | identifier }}."atom" = {{ column.atom | sql }}{% endfor %}
