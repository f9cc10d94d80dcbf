-- reads:  the source
-- yields: the release where no class is suppressed: every row of the source, as it is released
{% include "release/generalized.sql" %}

ORDER BY {{ order | cells }}
