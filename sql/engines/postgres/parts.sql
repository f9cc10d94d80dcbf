-- reads:  the catalog
-- yields: one row per thing that hangs on a table or view: what kind of thing it is, its text, the
--         columns that it needs, and the statement that gives it to a table of the same name
WITH it AS (
  SELECT c.oid, c.relowner, c.relacl, c.relnamespace, c.relkind, c.relrowsecurity
  FROM pg_catalog.pg_class AS c
  WHERE c.oid = pg_catalog.to_regclass({{ relation | literal }})
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
),
-- an index's own columns, and those in its expressions and conditions
index_columns AS (
  SELECT i.indexrelid, pg_catalog.array_agg(DISTINCT CAST(c.attname AS TEXT)) AS columns
  FROM it
  JOIN pg_catalog.pg_index AS i ON i.indrelid = it.oid
  JOIN pg_catalog.pg_depend AS d
    ON d.classid = CAST('pg_catalog.pg_class' AS REGCLASS) AND d.objid = i.indexrelid
    AND d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS) AND d.refobjid = it.oid
    AND d.refobjsubid > 0
  JOIN pg_catalog.pg_attribute AS c ON c.attrelid = it.oid AND c.attnum = d.refobjsubid
  GROUP BY i.indexrelid
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
SELECT 4, 'index', CAST(c.relname AS TEXT), n.columns,
  CASE WHEN i.indisunique OR n.columns IS NULL THEN NULL
    ELSE pg_catalog.pg_get_indexdef(i.indexrelid) END
FROM it
JOIN pg_catalog.pg_index AS i ON i.indrelid = it.oid
JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
LEFT JOIN index_columns AS n ON n.indexrelid = i.indexrelid
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
  pg_catalog.pg_get_constraintdef(k.oid)), NULL, NULL
FROM it JOIN pg_catalog.pg_constraint AS k ON k.conrelid = it.oid AND k.contype <> 'n'
WHERE k.contype <> 't'
UNION ALL
SELECT 7, 'reference', CAST(CAST(k.conrelid AS REGCLASS) AS TEXT), NULL, NULL
FROM it JOIN pg_catalog.pg_constraint AS k
  ON k.confrelid = it.oid AND k.contype = 'f' AND k.conrelid <> it.oid
UNION ALL
SELECT 8, 'bound', pg_catalog.format('%s %s', CASE v.relkind WHEN 'm' THEN 'the materialized view'
  ELSE 'the view' END, CAST(CAST(v.oid AS REGCLASS) AS TEXT)), NULL, NULL
FROM (
  SELECT DISTINCT c.oid, c.relkind
  FROM it
  JOIN pg_catalog.pg_depend AS d ON d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS)
    AND d.refobjid = it.oid AND d.classid = CAST('pg_catalog.pg_rewrite' AS REGCLASS)
  JOIN pg_catalog.pg_rewrite AS r ON r.oid = d.objid AND r.ev_class <> it.oid
  JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class
) AS v
UNION ALL
SELECT 9, 'bound', pg_catalog.format('the trigger %I', t.tgname), NULL, NULL
FROM it JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = it.oid AND NOT t.tgisinternal
UNION ALL
SELECT 10, 'bound', pg_catalog.format('the rule %I', r.rulename), NULL, NULL
FROM it JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = it.oid AND r.rulename <> '_RETURN'
UNION ALL
SELECT 11, 'bound', pg_catalog.format('the row security policy %I', p.polname), NULL, NULL
FROM it JOIN pg_catalog.pg_policy AS p ON p.polrelid = it.oid
UNION ALL
SELECT 12, 'bound', 'row level security', NULL, NULL
FROM it WHERE relrowsecurity
UNION ALL
SELECT 13, 'bound', pg_catalog.format('the publication %I', p.pubname), NULL, NULL
FROM it
JOIN pg_catalog.pg_publication_rel AS m ON m.prrelid = it.oid
JOIN pg_catalog.pg_publication AS p ON p.oid = m.prpubid
UNION ALL
SELECT 14, 'bound', pg_catalog.format('the inheritance of %s', CAST(CAST(h.inhrelid AS REGCLASS)
  AS TEXT)), NULL, NULL
FROM it JOIN pg_catalog.pg_inherits AS h ON it.oid IN (h.inhparent, h.inhrelid)
UNION ALL
-- everything else that PostgreSQL would not drop with the table: functions, columns of its type
SELECT 15, 'bound', pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid), NULL, NULL
FROM it
LEFT JOIN pg_catalog.pg_type AS t ON t.typrelid = it.oid
JOIN pg_catalog.pg_depend AS d
  ON (d.refclassid = CAST('pg_catalog.pg_class' AS REGCLASS) AND d.refobjid = it.oid)
  OR (d.refclassid = CAST('pg_catalog.pg_type' AS REGCLASS) AND d.refobjid IN (t.oid, t.typarray))
WHERE d.deptype = 'n' AND d.classid NOT IN (
  CAST('pg_catalog.pg_rewrite' AS REGCLASS), CAST('pg_catalog.pg_constraint' AS REGCLASS),
  CAST('pg_catalog.pg_policy' AS REGCLASS), CAST('pg_catalog.pg_trigger' AS REGCLASS)
)
UNION ALL
SELECT 16, 'statistics', CAST(s.stxname AS TEXT), NULL, NULL
FROM it JOIN pg_catalog.pg_statistic_ext AS s ON s.stxrelid = it.oid
ORDER BY 1, 3, 5
