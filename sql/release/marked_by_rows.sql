-- reads:  the source
-- yields: the release, with a marker in every quasi-identifier of classes of fewer than k rows
-- No row is left out. The marker differs from the labels of all groups; columns that are not
-- generalized keep their values.
WITH
-- one row per row of the source, as it is released
generalized AS (
{% include "release/generalized.sql" %}

),
-- every row with the number of rows in its class
counted AS (
  SELECT
    {{ names | names("generalized") }},
    COUNT(*) OVER (PARTITION BY {{ class | cells }}) AS people
  FROM generalized
)
SELECT
{% for name in names %}
{% if name in quasi %}
  CASE
    WHEN counted.people < {{ k }} THEN {{ marker | literal }}
    ELSE counted.{{ name | identifier }}
  END AS {{ name | identifier }},
{% else %}
  counted.{{ name | identifier }},
{% endif %}{% endfor %}
FROM counted
ORDER BY {{ order | cells }}
