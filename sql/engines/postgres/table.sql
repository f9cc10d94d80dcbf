-- reads:  the catalog
-- yields: one row: a table or view by its full name, with its kind and comment; none
--         where there is no such relation
SELECT
  CAST(c.relkind AS TEXT) AS kind,
  pg_catalog.obj_description(c.oid, 'pg_class') AS comment
FROM pg_catalog.pg_class AS c
WHERE c.oid = pg_catalog.to_regclass({{ relation | literal }})
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
