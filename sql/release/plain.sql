-- reads:  the source
-- yields: the release without suppression: every row of the source, as released
{% include "release/generalized.sql" %}

ORDER BY {{ order | cells }}
