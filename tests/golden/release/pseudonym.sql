SELECT
  LEFT(
    SHA256($sqlanon_key_1 || SHA256($sqlanon_key_1 || CAST("source"."person" AS TEXT))),
    32
  ) AS "person",
  "source"."sex" AS "sex"
FROM "people" AS "source"
ORDER BY
  1,
  2;
