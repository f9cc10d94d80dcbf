-- reads:  a staged table with a column of pseudonyms
-- yields: one row: distinct pseudonyms; if the original values are known, distinct values and
--         distinct pairs of both; and rows whose pseudonym has another form or is missing
SELECT
  COUNT(DISTINCT p) AS n_pseudonyms,
  COUNT(DISTINCT v) AS n_values,
  COUNT(*) AS n_pairs,
  CAST(COALESCE(SUM(CASE WHEN {{ is_formed | sql }} THEN 0 ELSE n END), 0) AS BIGINT) AS n_other
FROM (
  SELECT
    {{ pseudonym | sql }} AS p,
    {{ value | sql }} AS v,
    COUNT(*) AS n
  FROM {{ source | sql }}
{% if not value_known %}
  WHERE {{ column | sql }} IS NOT NULL
{% endif %}
  GROUP BY 1, 2
) AS counted
