SELECT
  LEFT(
    ENCODE(
      SHA256(
        CONVERT_TO(
          $1 || ENCODE(SHA256(CONVERT_TO($1 || CAST("source"."person" AS TEXT), 'UTF8')), 'hex'),
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
