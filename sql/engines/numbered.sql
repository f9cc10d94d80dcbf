-- reads:  the stored rows of a long answer, and tables of the different values of some columns
-- yields: the same rows, in these columns with the number of each value; NULL stays NULL
SELECT
  {{ cells | columns(2) }}
FROM {{ answer | sql }} AS answer
{% for name, table in tables.items() %}
LEFT JOIN {{ table | sql }} ON {{ table.name | identifier }}.value = answer.{{ name | identifier }}
{% endfor %}
