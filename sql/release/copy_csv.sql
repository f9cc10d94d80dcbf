-- reads:  a verified release
-- yields: a CSV file; NULL is an empty field without quotes, text has quotes
COPY (
  {{ select | sql }}
) TO {{ path | literal }} (
  FORMAT csv,
  HEADER true,
  DELIMITER ',',
  QUOTE '"',
  ESCAPE '"',
  NULLSTR '',
{% if quoted %}
  FORCE_QUOTE ({{ quoted | names }}),
{% endif %}
  USE_TMP_FILE false
)
