-- reads:  a CSV file written by copy_csv.sql
-- yields: its rows, every value as text
SELECT
  *
FROM READ_CSV(
  {{ path | literal }},
  auto_detect = false,
  header = true,
  delim = ',',
  quote = '"',
  escape = '"',
  nullstr = '',
  allow_quoted_nulls = false,
  strict_mode = true,
  parallel = false,
  hive_partitioning = false,
  columns = {
{% for name in names %}
    {{ name | literal }}: 'VARCHAR'{% if not loop.last %},{% endif %}

{% endfor %}
  }
)
