-- reads:  generalized: the rows as released
-- yields: unsafe_classes: the classes that have fewer than k people or violate a privacy model
-- Models of a sensitive column use values_of_classes.sql, values_of_source.sql,
-- measures_of_classes.sql and the distances; k-map uses population_of_classes.sql.
-- Classes are numbered in a fixed order: a database that evaluates a query twice gives every
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
