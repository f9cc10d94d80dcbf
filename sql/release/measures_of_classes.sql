-- reads:  counts: the people of each class by value; source: the people of the source by value
-- yields: per class the figures that the models of one sensitive column need
-- A class is joined with the source only if a model compares the two.
SELECT
  counts.class,
  {{ measures | columns }}
FROM counts
{% if same_value is not none %}
JOIN source ON {{ same_value | sql }}
{% endif %}
GROUP BY 1
