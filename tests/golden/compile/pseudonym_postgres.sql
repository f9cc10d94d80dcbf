SELECT
  LEFT(
    ENCODE(
      SHA256(
        CONVERT_TO(
          %(key)s || ENCODE(SHA256(CONVERT_TO(%(key)s || CAST("source"."person" AS TEXT), 'UTF8')), 'hex'),
          'UTF8'
        )
      ),
      'hex'
    ),
    32
  ) AS "person",
  "source"."sex" AS "sex"
FROM "people" AS "source"
ORDER BY
  1,
  2;
