WITH "generalized" /* one row per row of the source, as it is released */ AS (
  SELECT
    CASE
      WHEN LENGTH("source"."zip") = 4 AND LEFT("source"."zip", 2) COLLATE "binary" = '80'
      THEN '80**'
      WHEN LENGTH("source"."zip") = 5 AND LEFT("source"."zip", 3) COLLATE "binary" = '101'
      THEN '101**'
      WHEN LENGTH("source"."zip") = 5 AND LEFT("source"."zip", 3) COLLATE "binary" = '200'
      THEN '200**'
      ELSE '(not in the scheme)'
    END AS "zip"
  FROM "people" AS "source"
  WHERE
    (
      LENGTH("source"."zip") = 4 AND LEFT("source"."zip", 2) COLLATE "binary" = '80'
    )
    OR (
      LENGTH("source"."zip") = 5 AND LEFT("source"."zip", 3) COLLATE "binary" = '101'
    )
    OR (
      LENGTH("source"."zip") = 5 AND LEFT("source"."zip", 3) COLLATE "binary" = '200'
    )
), "counted" /* every row with the number of rows in its class */ AS (
  SELECT
    "generalized"."zip",
    COUNT(*) OVER (PARTITION BY "generalized"."zip" COLLATE "binary") AS "people"
  FROM "generalized"
)
SELECT
  CASE WHEN "counted"."people" >= 2 THEN "counted"."zip" END AS "zip"
FROM "counted"
WHERE
  "counted"."people" >= 2
ORDER BY
  1;
