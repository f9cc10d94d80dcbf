SELECT
  LEFT(SHA256($key || SHA256($key || CAST("source"."person" AS TEXT))), 32) AS "person",
  "source"."sex" AS "sex"
FROM "people" AS "source"
ORDER BY
  1,
  2;
