-- reads:  a table
-- yields: one row: the number of rows, the number of rows whose values only one row or person has,
--         and the sum of each quarter of the rows' hashes. A row is hashed as the length and the
--         text of every value; NULL has the length -1. Equal rows are hashed once and count as
--         often as they occur
SELECT
  CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n_rows,
  CAST(COALESCE(SUM(CASE WHEN is_unique = 1 THEN n ELSE 0 END), 0) AS BIGINT) AS n_unique,
  SUM("n" * CAST(CAST('0x' || SUBSTRING("h", 1, 8) AS UINTEGER) AS INT128)) AS "sum0",
  SUM("n" * CAST(CAST('0x' || SUBSTRING("h", 9, 8) AS UINTEGER) AS INT128)) AS "sum1",
  SUM("n" * CAST(CAST('0x' || SUBSTRING("h", 17, 8) AS UINTEGER) AS INT128)) AS "sum2",
  SUM("n" * CAST(CAST('0x' || SUBSTRING("h", 25, 8) AS UINTEGER) AS INT128)) AS "sum3"
FROM (
  SELECT
    n,
    is_unique,
    MD5(CONCAT(CAST(COALESCE(LENGTH("t0"), -1) AS TEXT), ':', COALESCE("t0", ''), CAST(COALESCE(LENGTH("t1"), -1) AS TEXT), ':', COALESCE("t1", ''))) AS h
  FROM (
    SELECT
      CAST("v0" AS TEXT) AS "t0",
      CASE WHEN ISNAN("v1") THEN 'nan' ELSE CAST(CAST(CAST(CAST("v1" AS DOUBLE) AS BIT) AS BIGINT) AS TEXT) END AS "t1",
      n,
      is_unique
    FROM (
      SELECT
        "age" AS "v0",
        "score" + 0.0 AS "v1",
        1 AS n,
        0 AS is_unique
      FROM "visits"
    ) AS counted
  ) AS texts
) AS hashed
