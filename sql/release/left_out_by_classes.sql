-- reads:  the source
-- yields: the release without the classes that have too few people or violate a privacy model
WITH
-- one row per row of the source, as it is released
generalized AS (
{% include "release/generalized.sql" %}

),
{% include unsafe_classes %}

SELECT
  {{ names | names("generalized") }}
FROM generalized
LEFT JOIN unsafe_classes ON {{ in_unsafe_class | sql }}
WHERE unsafe_classes.is_unsafe IS NULL
ORDER BY {{ order | cells }}
