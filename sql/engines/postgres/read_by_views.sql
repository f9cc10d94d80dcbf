-- reads:  the catalog
-- yields: one row per relation that some tables and views read, themselves and through views
WITH RECURSIVE
read (oid) AS (
  SELECT CAST(pg_catalog.to_regclass(name) AS OID)
  FROM pg_catalog.unnest({{ names | sql }}) AS given (name)
  UNION
  SELECT d.refobjid
  FROM read
  JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = read.oid
  JOIN pg_catalog.pg_depend AS d
    ON d.classid = CAST('pg_catalog.pg_rewrite' AS REGCLASS) AND d.objid = r.oid
    AND d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS)
)
SELECT CAST(n.nspname AS TEXT) AS schema, CAST(c.relname AS TEXT) AS name,
  CAST(c.relkind AS TEXT) AS kind, c.relpersistence = 't' AS is_temporary
FROM read
JOIN pg_catalog.pg_class AS c ON c.oid = read.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
ORDER BY 1, 2
