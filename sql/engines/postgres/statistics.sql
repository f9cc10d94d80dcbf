-- reads:  the catalog
-- yields: one row per analyzed column of a table: its different values with NULL, and the rows of
--         the table, both as ANALYZE has estimated them; none for a table without rows
SELECT
  CAST(s.attname AS TEXT) AS name,
  CAST(c.reltuples AS BIGINT) AS n_rows,
  CAST(
    CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END
    + CASE WHEN s.null_frac > 0 THEN 1 ELSE 0 END
    AS BIGINT
  ) AS n_distinct
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_stats AS s
  ON s.schemaname = n.nspname
  AND s.tablename = c.relname
  AND s.inherited = (c.relkind = 'p')
WHERE c.oid = pg_catalog.to_regclass({{ relation | literal }})
  AND c.reltuples > 0
ORDER BY s.attname
