-- reads:  the audited table, which has several rows a subject
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
      COUNT(*) OVER (PARTITION BY {% for _ in quasi %}q{{ loop.index0 }}{% if not loop.last %}, {% endif %}{% endfor %}) AS size
    FROM (
      SELECT
{% for value in quasi %}
        {{ value | sql }} AS q{{ loop.index0 }},
{% endfor %}
        {{ subject | sql }} AS person
      FROM {{ source | sql }}
      GROUP BY {% for _ in range(quasi | length + 1) %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

    ) AS members
  ) AS sized
  GROUP BY person
) AS people
GROUP BY smallest
