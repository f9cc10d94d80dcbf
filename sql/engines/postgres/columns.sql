-- reads:  the catalog
-- yields: one row per column of a table or view, in their order
SELECT
  CAST(a.attname AS TEXT) AS name,
  a.attnotnull AS is_strict,
  pg_catalog.col_description(a.attrelid, a.attnum) AS comment,
  pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS "default",
  a.attgenerated <> '' AS is_generated,
  a.attidentity <> '' AS is_identity
FROM pg_catalog.pg_attribute AS a
LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = pg_catalog.to_regclass({{ relation | literal }})
  AND a.attnum > 0
  AND NOT a.attisdropped
ORDER BY a.attnum
