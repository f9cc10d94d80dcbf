-- reads:  a table that may be released
-- yields: one row per column: distinct values, entries that have one, and how many of these meet
--         each condition. An entry is a row, or a person with one value
{% for each in columns %}
SELECT
  {{ loop.index0 }} AS place,
  COUNT(*) AS n_values,
  CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n_entries,
  CAST(COALESCE(SUM(CASE WHEN n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS n_alone,
{% if each.is_text %}
  CAST(COALESCE(SUM(n * {{ characters | sql }}), 0) AS BIGINT) AS n_characters
{%- else %}
  0 AS n_characters
{%- endif %}
{% for condition in conditions %},
{% if each.is_text %}
  CAST(COALESCE(SUM(CASE WHEN {{ condition | sql }} THEN n ELSE 0 END), 0) AS BIGINT) AS c{{ loop.index0 }}
{%- else %}
  0 AS c{{ loop.index0 }}
{%- endif %}
{%- endfor %}

FROM (
  SELECT
    {{ each.value | sql }} AS v,
    {{ people | sql }} AS n
  FROM {{ source | sql }}
  WHERE {{ each.column | sql }} IS NOT NULL
  GROUP BY 1
) AS counted
{%- if not loop.last %}

UNION ALL
{% endif %}
{%- endfor %}
