-- reads:  the audited table, which has several rows per subject
-- yields: one row per size of class, in people: how many people are in no smaller one
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
