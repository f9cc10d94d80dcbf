-- reads:  a Parquet file written by copy_parquet.sql
-- yields: its rows
SELECT
  *
FROM READ_PARQUET({{ path | literal }}, hive_partitioning = false)
