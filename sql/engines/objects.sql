-- reads:  the catalog of one attached database
-- yields: one row per object that a user created, with its definition and comment
SELECT kind, schema_name, name, definition, comment
FROM (
  SELECT 'schema' AS kind, database_name, schema_name, schema_name AS name,
    NULL AS definition, comment
  FROM duckdb_schemas() WHERE NOT internal
  UNION ALL
  SELECT 'table', database_name, schema_name, table_name, sql, comment
  FROM duckdb_tables() WHERE NOT internal
  UNION ALL
  SELECT 'column', database_name, schema_name, table_name || '.' || column_name, data_type, comment
  FROM duckdb_columns() WHERE NOT internal
  UNION ALL
  SELECT 'view', database_name, schema_name, view_name, sql, comment
  FROM duckdb_views() WHERE NOT internal
  UNION ALL
  SELECT 'macro', database_name, schema_name, function_name,
    CAST(parameters AS VARCHAR) || macro_definition, comment
  FROM duckdb_functions() WHERE NOT internal
  UNION ALL
  SELECT 'sequence', database_name, schema_name, sequence_name, sql, comment
  FROM duckdb_sequences()
  UNION ALL
  SELECT 'type', database_name, schema_name, type_name,
    logical_type || CAST(labels AS VARCHAR), comment
  FROM duckdb_types() WHERE NOT internal
  UNION ALL
  SELECT 'index', database_name, schema_name, index_name, sql, comment
  FROM duckdb_indexes()
) AS objects
WHERE database_name = {{ database | literal }}
ORDER BY ALL
