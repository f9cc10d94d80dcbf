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
      COUNT(*) OVER (PARTITION BY "q0", "q1", "q2") AS size
    FROM (
      SELECT
        "age" AS "q0",
        "the ""town"" of" COLLATE "binary" AS "q1",
        "score" + 0.0 AS "q2",
        "who" AS person
      FROM "visits"
      GROUP BY 1, 2, 3, 4
    ) AS members
  ) AS sized
  GROUP BY person
) AS people
GROUP BY smallest
