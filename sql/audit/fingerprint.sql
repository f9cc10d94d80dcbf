-- reads:  a table
-- yields: one row: its rows, and the sums of both halves of their hashes. A row is hashed as
--         the length and the text of every value; NULL has the length -1
SELECT
  COUNT(*) AS n_rows,
  {{ upper | sql }} AS upper_sum,
  {{ lower | sql }} AS lower_sum
FROM (
  SELECT
    {{ hash | sql }} AS h
  FROM (
    SELECT
{% for text in texts %}
      {{ text | sql }} AS t{{ loop.index0 }}{% if not loop.last %},{% endif %}

{% endfor %}
    FROM {{ source | sql }}
  ) AS texts
) AS hashed
