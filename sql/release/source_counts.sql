-- reads:  the source, and the lists in which its columns are looked up
-- yields: one row: the rows, the people, and for each generalized column the rows whose value
--         belongs to no group
-- Where the value is NULL the condition may be NULL too: only TRUE counts.
SELECT
  COUNT(*) AS n_rows,
  {{ people | sql }} AS n_people,
{% for name, covered in generalized %}
  COUNT(*) - COUNT(CASE WHEN {{ covered | sql }} THEN 1 END) AS {{ name | identifier }},
{% endfor %}
FROM {{ source | sql }}
{% include "release/lookups.sql" %}
