-- reads:  generalized: the rows as they are released
-- yields: unsafe_classes: the classes that have fewer than k people or violate a privacy model
-- Models of a sensitive column read what values_of_classes.sql, values_of_source.sql and
-- measures_of_classes.sql count, and the distances; k-map reads population_of_classes.sql.
-- Numbers follow the order of the classes: a database that works a query out twice gives every
-- class the same number again.
-- every class with its people and a number
classes AS (
  SELECT
    {{ class_columns | cells }},
    {{ people | sql }} AS people,
    ROW_NUMBER() OVER (ORDER BY {{ class_order | cells }}) AS class
  FROM generalized
  GROUP BY {{ class_columns | ordinals }}
),
{% if sensitive %}
-- every row as the number of its class, with its person and its sensitive values
members AS (
  SELECT
    classes.class,
    {{ sensitive | cells }}
  FROM generalized
  JOIN classes ON {{ in_class | sql }}
  {% if subject is not none %}WHERE {{ subject | sql }} IS NOT NULL{% endif %}

),
{% endif %}
{{ counted | ctes }}
-- the classes that fall short
unsafe_classes AS (
  SELECT
    {{ class_names | names("classes") }},
    TRUE AS is_unsafe
  FROM classes
{% for name in measured %}
  LEFT JOIN {{ name | identifier }} ON {{ name | identifier }}.class = classes.class
{% endfor %}
  WHERE {{ falls_short | sql }}
)
