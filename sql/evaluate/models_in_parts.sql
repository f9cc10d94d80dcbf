-- reads:  {{ table | identifier }}, as models.sql, and what is counted by class and cannot be
--         added up over tuples; each part has a file of its name: moving.sql, moving_values.sql,
--         population.sql
-- yields: as models.sql
-- params: as models.sql
WITH candidates AS (
  SELECT
    {{ candidates | columns }}
),
tuples AS (
{% if rolled_up %}
  SELECT  -- the common refinement of the candidates: the bits that one of them keeps
    {{ masks | columns }},
    {{ sums | columns }}
  FROM {{ table | identifier }}
  GROUP BY ALL
{% else %}
  FROM {{ table | identifier }}
{% endif %}
),
counts AS (
  SELECT
    {{ keys | columns }},
    {{ counts | columns }}
  FROM tuples, candidates
  GROUP BY ALL
)
{% for part in parts %}
{% include "evaluate/" ~ part ~ ".sql" %}

{% endfor %}
, totals AS (
  SELECT
    {{ keys | names }},
    {{ totals | columns }}
  FROM (
    FROM counts
{% for part in parts %}
    UNION ALL FROM {{ part | identifier }}
{% endfor %}
  )
  GROUP BY ALL
)
{% include "evaluate/judged.sql" %}
