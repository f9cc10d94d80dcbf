-- reads:  counts: the people of each class by value; source: those of the source by value
-- yields: per class what the models of one sensitive column read, with the formulas of the models
-- A class is joined with the source only where a model compares it with the whole.
SELECT
  counts.class,
  {{ measures | columns }}
FROM counts
{% if same_value is not none %}
JOIN source ON {{ same_value | sql }}
{% endif %}
GROUP BY 1
