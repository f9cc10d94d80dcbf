-- reads:  the catalog
-- yields: one row per thing of the database that still sees what the last change of a table
--         replaced, so that VACUUM keeps it. Sessions of other roles are seen by pg_monitor only
WITH changed AS (
  SELECT pg_catalog.age(c.xmin) AS ago
  FROM pg_catalog.pg_class AS c
  WHERE c.oid = pg_catalog.to_regclass({{ relation | literal }})
)
SELECT pg_catalog.format('the transaction of the session with process id %s', a.pid) AS text
FROM pg_catalog.pg_stat_activity AS a JOIN changed ON pg_catalog.age(a.backend_xmin) >= changed.ago
WHERE a.datname = pg_catalog.current_database() AND a.pid <> pg_catalog.pg_backend_pid()
UNION ALL
SELECT pg_catalog.format('the prepared transaction %s', p.gid)
FROM pg_catalog.pg_prepared_xacts AS p JOIN changed
  ON pg_catalog.age(p.transaction) >= changed.ago
WHERE p.database = pg_catalog.current_database()
UNION ALL
SELECT pg_catalog.format('the replication slot %s', s.slot_name)
FROM pg_catalog.pg_replication_slots AS s JOIN changed
  ON pg_catalog.age(s.catalog_xmin) >= changed.ago OR pg_catalog.age(s.xmin) >= changed.ago
ORDER BY 1
