-- reads:  the audited table, which has several rows per subject
-- yields: one row per class size, in people: the number of people whose smallest class has it
SELECT
  smallest,
  COUNT(*) AS n_people
FROM (
  SELECT
    person,
    MIN(size) AS smallest
  FROM (
    SELECT
      person,
      COUNT(*) OVER (PARTITION BY {{ quasi | names }}) AS size
    FROM (
      SELECT
        {{ quasi | columns(8) }},
        {{ subject | sql }} AS person
      FROM {{ source | sql }}
      GROUP BY {{ quasi | ordinals }}, {{ quasi | length + 1 }}
    ) AS members
  ) AS sized
  GROUP BY person
) AS people
GROUP BY smallest
