-- reads:  a staged table with a label column
-- yields: one row: the number of rows with the most frequent label of their class; NULL is a label
--         too; rows that are marked as suppressed are in no class
SELECT CAST(COALESCE(SUM(n_most), 0) AS BIGINT) AS n_rows
FROM (
  SELECT
    {{ quasi | names }},
    MAX(n_rows) AS n_most
  FROM (
    SELECT
      {{ quasi | columns(6) }},
      {{ label | sql }} AS label,
      COUNT(*) AS n_rows
    FROM {{ source | sql }}
{% if is_marked %}
    WHERE NOT ({{ is_marked | sql }})
{% endif %}
    GROUP BY {{ quasi | ordinals }}, {{ quasi | length + 1 }}
  ) AS labelled
  GROUP BY {{ quasi | ordinals }}
) AS classes
