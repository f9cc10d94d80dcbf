-- reads:  a table that may be released
-- yields: one row per column: distinct values, entries with a value, entries with a unique value,
--         characters, and how many entries meet each condition (c0, c1, …). An entry is a row, or
--         a person with one value
SELECT
  0 AS place,
  COUNT(*) AS n_values,
  CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n_entries,
  CAST(COALESCE(SUM(CASE WHEN n = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS n_alone,
  CAST(COALESCE(SUM("n" * LENGTH("v")), 0) AS BIGINT) AS "n_characters",
  CAST(COALESCE(SUM(CASE WHEN LENGTH("v") - LENGTH(REPLACE("v", ' ', '')) >= 2 THEN "n" ELSE 0 END), 0) AS BIGINT) AS "c0",
  CAST(COALESCE(SUM(CASE WHEN REGEXP_MATCHES(TRIM("v"), '[^@ ]+@[^@ ]+[.][A-Za-z]{2,}') THEN "n" ELSE 0 END), 0) AS BIGINT) AS "c1",
  CAST(COALESCE(SUM(CASE WHEN REGEXP_MATCHES(TRIM("v"), '(https?|ftp|HTTPS?|FTP)://[^ ]+') OR REGEXP_MATCHES(TRIM("v"), '^(www|WWW)[.][^ ]+[.][A-Za-z]{2,}') THEN "n" ELSE 0 END), 0) AS BIGINT) AS "c2",
  CAST(COALESCE(SUM(CASE WHEN (REGEXP_MATCHES(TRIM("v"), '^[+][1-9]([ ()./-]*[0-9]){7,14}$') OR REGEXP_MATCHES(TRIM("v"), '^[(]?0[1-9][0-9]{0,5}[ ()./-]([ ()./-]*[0-9]){5,12}$') OR REGEXP_MATCHES(TRIM("v"), '^([+]?1[ .-])?([(][2-9][0-9]{2}[)] ?|[2-9][0-9]{2}[ .-])[0-9]{3}[ .-][0-9]{4}$')) AND NOT (REGEXP_MATCHES(TRIM("v"), '^([0-9]{1,2}[./ -][0-9]{1,2}[./ -][0-9]{2,4}|[0-9]{4}[./ -][0-9]{1,2}[./ -][0-9]{1,2})($|[ T][0-9]{1,2}:)') OR REGEXP_MATCHES(TRIM("v"), '^[+-]?[0-9]+[.,][0-9]+$')) THEN "n" ELSE 0 END), 0) AS BIGINT) AS "c3",
  CAST(COALESCE(SUM(CASE WHEN REGEXP_MATCHES(TRIM("v"), '^[A-Z]{2}[0-9]{2}(( ?[A-Z0-9]{4}){2} ?[A-Z0-9]{3}|( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?)$') THEN "n" ELSE 0 END), 0) AS BIGINT) AS "c4",
  CAST(COALESCE(SUM(CASE WHEN REGEXP_MATCHES(TRIM("v"), '^[3-6][0-9]{3}([ -]?)[0-9]{4}([ -]?)[0-9]{4}([ -]?)[0-9]{4}$') OR REGEXP_MATCHES(TRIM("v"), '^3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}$') THEN "n" ELSE 0 END), 0) AS BIGINT) AS "c5",
  CAST(COALESCE(SUM(CASE WHEN REGEXP_MATCHES(TRIM("v"), '^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(/[0-9]{1,2}|:[0-9]{1,5})?$') OR REGEXP_MATCHES(TRIM("v"), '^([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(/[0-9]{1,3})?$') OR REGEXP_MATCHES(TRIM("v"), '^([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?::([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?(/[0-9]{1,3})?$') THEN "n" ELSE 0 END), 0) AS BIGINT) AS "c6"
FROM (
  SELECT
    "ill" COLLATE "binary" AS v,
    COUNT(DISTINCT "who") AS n
  FROM "visits"
  WHERE "ill" IS NOT NULL
  GROUP BY 1
) AS counted
