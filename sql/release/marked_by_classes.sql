-- reads:  the source
-- yields: the release, with a marker in every quasi-identifier of classes that have too few people
--         or violate a privacy model
-- No row is left out. The marker differs from the labels of all groups; columns that are not
-- generalized keep their values.
WITH
-- one row per row of the source, as it is released
generalized AS (
{% include "release/generalized.sql" %}

),
{% include unsafe_classes %}

SELECT
{% for name in names %}
{% if name in quasi %}
  CASE
    WHEN unsafe_classes.is_unsafe IS NOT NULL THEN {{ marker | literal }}
    ELSE generalized.{{ name | identifier }}
  END AS {{ name | identifier }},
{% else %}
  generalized.{{ name | identifier }},
{% endif %}{% endfor %}
FROM generalized
LEFT JOIN unsafe_classes ON {{ in_unsafe_class | sql }}
ORDER BY {{ order | cells }}
