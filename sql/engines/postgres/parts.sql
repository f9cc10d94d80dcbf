-- reads:  the catalog
-- yields: one row per thing that hangs on a table or view: what kind of thing it is, its text, the
--         columns that it needs, and the statement that gives it to a table of the same name, or
--         that runs before or after the rows of the table are replaced. What is bound to the table
--         itself has no columns if it cannot stay when that happens
WITH RECURSIVE it AS (
  SELECT c.oid, c.relname, c.relowner, c.relacl, c.relnamespace, c.relkind, c.relrowsecurity,
    c.reloptions
  FROM pg_catalog.pg_class AS c
  WHERE c.oid = pg_catalog.to_regclass({{ relation | literal }})
),
all_columns AS (
  SELECT pg_catalog.array_agg(CAST(c.attname AS TEXT) ORDER BY c.attnum) AS columns
  FROM it
  JOIN pg_catalog.pg_attribute AS c
    ON c.attrelid = it.oid AND c.attnum > 0 AND NOT c.attisdropped
),
-- the columns that other objects name
named_columns AS (
  SELECT d.classid, d.objid, pg_catalog.array_agg(DISTINCT CAST(c.attname AS TEXT)) AS columns
  FROM it
  JOIN pg_catalog.pg_depend AS d
    ON d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS) AND d.refobjid = it.oid
    AND d.refobjsubid > 0
  JOIN pg_catalog.pg_attribute AS c ON c.attrelid = it.oid AND c.attnum = d.refobjsubid
  GROUP BY d.classid, d.objid
),
-- the views of the table, and those of its views
views (oid, relkind, depth, columns) AS (
  SELECT c.oid, c.relkind, 1, COALESCE(n.columns, CAST(ARRAY[] AS TEXT[]))
  FROM it
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS)
    AND d.refobjid = it.oid AND d.classid = CAST('pg_catalog.pg_rewrite' AS REGCLASS)
  JOIN pg_catalog.pg_rewrite AS r ON r.oid = d.objid AND r.ev_class <> it.oid
  JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class
  LEFT JOIN named_columns AS n ON n.classid = d.classid AND n.objid = r.oid
  UNION
  SELECT c.oid, c.relkind, v.depth + 1, CAST(ARRAY[] AS TEXT[])
  FROM views AS v
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS)
    AND d.refobjid = v.oid AND d.classid = CAST('pg_catalog.pg_rewrite' AS REGCLASS)
  JOIN pg_catalog.pg_rewrite AS r ON r.oid = d.objid AND r.ev_class <> v.oid
  JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class
),
copies AS (
  SELECT v.oid, MAX(v.depth) AS depth,
    pg_catalog.bool_and(pg_catalog.pg_has_role(c.relowner, 'USAGE')) AS is_own
  FROM views AS v JOIN pg_catalog.pg_class AS c ON c.oid = v.oid
  WHERE c.relkind = 'm' AND c.relispopulated
  GROUP BY v.oid
),
-- what others get on every new table of the role of the connection: the new table is to have the
-- rights of the old one and no others
given AS (
  SELECT DISTINCT a.grantee
  FROM pg_catalog.pg_default_acl AS d
  JOIN it ON d.defaclnamespace IN (0, it.relnamespace)
  JOIN pg_catalog.pg_roles AS r ON r.oid = d.defaclrole AND r.rolname = CURRENT_USER
  CROSS JOIN LATERAL pg_catalog.aclexplode(d.defaclacl) AS a
  WHERE d.defaclobjtype = 'r' AND a.grantee <> d.defaclrole
),
table_rights AS (
  SELECT a.grantee, a.privilege_type, a.is_grantable
  FROM it CROSS JOIN LATERAL pg_catalog.aclexplode(it.relacl) AS a
  WHERE a.grantee <> it.relowner
),
column_rights AS (
  SELECT c.attname, a.grantee, a.privilege_type, a.is_grantable
  FROM it
  JOIN pg_catalog.pg_attribute AS c ON c.attrelid = it.oid AND NOT c.attisdropped
  CROSS JOIN LATERAL pg_catalog.aclexplode(c.attacl) AS a
)
SELECT 1 AS place, 'revoke' AS kind, NULL AS text, CAST(NULL AS TEXT[]) AS columns,
  pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s', {{ relation | literal }}, CASE WHEN grantee = 0
    THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(grantee)) END) AS sql
FROM given
UNION ALL
SELECT 2, 'grant', NULL, NULL,
  pg_catalog.format('GRANT %s ON TABLE %s TO %s%s', privilege_type, {{ relation | literal }},
    CASE WHEN grantee = 0 THEN 'PUBLIC'
      ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM table_rights
UNION ALL
SELECT 3, 'grant', NULL, ARRAY[CAST(attname AS TEXT)],
  pg_catalog.format('GRANT %s (%I) ON TABLE %s TO %s%s', privilege_type, attname,
    {{ relation | literal }}, CASE WHEN grantee = 0 THEN 'PUBLIC'
      ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM column_rights
UNION ALL
SELECT 4, 'option', NULL, NULL,
  pg_catalog.format('ALTER TABLE %s SET (%s)', {{ relation | literal }},
    pg_catalog.array_to_string(reloptions, ', '))
FROM it WHERE relkind = 'r' AND reloptions IS NOT NULL
UNION ALL
SELECT 4, 'index', CAST(c.relname AS TEXT), n.columns,
  CASE WHEN i.indisunique OR n.columns IS NULL THEN NULL
    ELSE pg_catalog.pg_get_indexdef(i.indexrelid) END
FROM it
JOIN pg_catalog.pg_index AS i ON i.indrelid = it.oid
JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
LEFT JOIN named_columns AS n
  ON n.classid = CAST('pg_catalog.pg_class' AS REGCLASS) AND n.objid = i.indexrelid
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.conindid = i.indexrelid
  AND k.conrelid = it.oid)
UNION ALL
SELECT 5, 'owner', NULL, NULL,
  pg_catalog.format('ALTER TABLE %s OWNER TO %I', {{ relation | literal }},
    pg_catalog.pg_get_userbyid(relowner))
FROM it
WHERE pg_catalog.pg_get_userbyid(relowner) <> CURRENT_USER
UNION ALL
SELECT 6, 'constraint', pg_catalog.format('%I %s', k.conname,
  pg_catalog.pg_get_constraintdef(k.oid)), ARRAY(
    SELECT CAST(c.attname AS TEXT) FROM pg_catalog.pg_attribute AS c
    WHERE c.attrelid = it.oid AND c.attnum = ANY (k.conkey)
  ), NULL
FROM it JOIN pg_catalog.pg_constraint AS k ON k.conrelid = it.oid
WHERE k.contype NOT IN ('n', 't')
UNION ALL
SELECT 7, 'statistics', CAST(s.stxname AS TEXT), ARRAY(
    SELECT CAST(c.attname AS TEXT) FROM pg_catalog.pg_attribute AS c
    WHERE c.attrelid = it.oid AND c.attnum = ANY (CAST(s.stxkeys AS SMALLINT[]))
  ), NULL
FROM it JOIN pg_catalog.pg_statistic_ext AS s ON s.stxrelid = it.oid
UNION ALL
SELECT 8, 'reference', CAST(CAST(k.conrelid AS REGCLASS) AS TEXT), NULL, NULL
FROM it JOIN pg_catalog.pg_constraint AS k
  ON k.confrelid = it.oid AND k.contype = 'f' AND k.conrelid <> it.oid
UNION ALL
SELECT DISTINCT 9, 'bound', pg_catalog.format('the view %s', CAST(CAST(v.oid AS REGCLASS) AS TEXT)),
  v.columns, NULL
FROM views AS v WHERE v.relkind <> 'm' AND v.depth = 1
UNION ALL
-- it holds rows of its own
SELECT DISTINCT 10, 'refreshed', pg_catalog.format('the materialized view %s',
    CAST(CAST(v.oid AS REGCLASS) AS TEXT)),
  CASE WHEN COALESCE(m.is_own, TRUE) THEN v.columns END, NULL
FROM views AS v LEFT JOIN copies AS m ON m.oid = v.oid
WHERE v.relkind = 'm'
UNION ALL
SELECT 11, 'paused', pg_catalog.format('the trigger %I', t.tgname),
  COALESCE(n.columns, CAST(ARRAY[] AS TEXT[])), NULL
FROM it
JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = it.oid AND NOT t.tgisinternal
LEFT JOIN named_columns AS n
  ON n.classid = CAST('pg_catalog.pg_trigger' AS REGCLASS) AND n.objid = t.oid
UNION ALL
SELECT 12, 'bound', pg_catalog.format('the rule %I', r.rulename), NULL, NULL
FROM it JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = it.oid AND r.rulename <> '_RETURN'
UNION ALL
SELECT 13, 'bound', pg_catalog.format('the row security policy %I', p.polname),
  COALESCE(n.columns, CAST(ARRAY[] AS TEXT[])), NULL
FROM it
JOIN pg_catalog.pg_policy AS p ON p.polrelid = it.oid
LEFT JOIN named_columns AS n
  ON n.classid = CAST('pg_catalog.pg_policy' AS REGCLASS) AND n.objid = p.oid
UNION ALL
-- where it applies to the role itself, this role does not see every row
SELECT 14, 'bound', 'row level security',
  CASE WHEN NOT pg_catalog.row_security_active(oid) THEN CAST(ARRAY[] AS TEXT[]) END, NULL
FROM it WHERE relrowsecurity
UNION ALL
-- subscribers have the same columns, and would keep the former rows without TRUNCATE
SELECT 15, 'bound', pg_catalog.format('the publication %I', p.pubname),
  CASE WHEN p.pubtruncate AND p.pubinsert THEN a.columns END, NULL
FROM it
JOIN pg_catalog.pg_publication_rel AS m ON m.prrelid = it.oid
JOIN pg_catalog.pg_publication AS p ON p.oid = m.prpubid
CROSS JOIN all_columns AS a
UNION ALL
SELECT 16, 'bound', pg_catalog.format('the inheritance of %s', CAST(CAST(h.inhrelid AS REGCLASS)
  AS TEXT)), NULL, NULL
FROM it JOIN pg_catalog.pg_inherits AS h ON it.oid IN (h.inhparent, h.inhrelid)
UNION ALL
-- everything else that PostgreSQL would not drop with the table: functions, columns of its type
SELECT DISTINCT 17, 'bound', pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid),
  a.columns, NULL
FROM it
LEFT JOIN pg_catalog.pg_type AS t ON t.typrelid = it.oid
JOIN pg_catalog.pg_depend AS d
  ON (d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS) AND d.refobjid = it.oid)
  OR (d.refclassid = CAST('pg_catalog.pg_type' AS REGCLASS) AND d.refobjid IN (t.oid, t.typarray))
CROSS JOIN all_columns AS a
LEFT JOIN pg_catalog.pg_attrdef AS e  -- a generated column of the table itself
  ON d.classid = CAST('pg_catalog.pg_attrdef' AS REGCLASS) AND e.oid = d.objid
  AND e.adrelid = it.oid
WHERE d.deptype = 'n' AND e.oid IS NULL AND d.classid NOT IN (
  CAST('pg_catalog.pg_rewrite' AS REGCLASS), CAST('pg_catalog.pg_constraint' AS REGCLASS),
  CAST('pg_catalog.pg_policy' AS REGCLASS), CAST('pg_catalog.pg_trigger' AS REGCLASS)
)
UNION ALL
-- ANALYZE would leave the values of former rows in pg_stats
SELECT 18, 'bound', pg_catalog.format('the statistics target 0 of column %I', c.attname), NULL, NULL
FROM it
JOIN pg_catalog.pg_attribute AS c
  ON c.attrelid = it.oid AND c.attnum > 0 AND c.attstattarget = 0
JOIN pg_catalog.pg_namespace AS s ON s.oid = it.relnamespace
JOIN pg_catalog.pg_stats AS v
  ON v.schemaname = s.nspname AND v.tablename = it.relname AND v.attname = c.attname
UNION ALL
SELECT 19, 'before', NULL, NULL,
  pg_catalog.format('ALTER TABLE %s DISABLE TRIGGER %I', {{ relation | literal }}, t.tgname)
FROM it JOIN pg_catalog.pg_trigger AS t
  ON t.tgrelid = it.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
UNION ALL
SELECT 20, 'after', NULL, NULL,
  pg_catalog.format('ALTER TABLE %s ENABLE %sTRIGGER %I', {{ relation | literal }},
    CASE t.tgenabled WHEN 'A' THEN 'ALWAYS ' WHEN 'R' THEN 'REPLICA ' ELSE '' END, t.tgname)
FROM it JOIN pg_catalog.pg_trigger AS t
  ON t.tgrelid = it.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
UNION ALL
SELECT 20 + depth, 'after', NULL, NULL,
  pg_catalog.format('REFRESH MATERIALIZED VIEW %s', CAST(CAST(oid AS REGCLASS) AS TEXT))
FROM copies
UNION ALL
SELECT 10000, 'after', NULL, NULL, pg_catalog.format('ANALYZE %s', name)
FROM (
  SELECT {{ relation | literal }} AS name FROM it
  UNION ALL
  SELECT CAST(CAST(oid AS REGCLASS) AS TEXT) FROM copies
) AS analyzed
ORDER BY 1, 3, 5
