-- reads:  the source, and the lists in which its columns are looked up
-- yields: the values of one generalized column that belong to no group, most frequent first
SELECT CAST({{ column | sql }} AS TEXT) AS value
FROM {{ source | sql }}
{% include "release/lookups.sql" %}
WHERE NOT {{ covered | sql }} IS TRUE
GROUP BY 1
ORDER BY COUNT(*) DESC, 1
LIMIT {{ most }}
