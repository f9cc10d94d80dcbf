-- reads:  a Parquet file that copy_parquet.sql has written
-- yields: its rows
SELECT
  *
FROM READ_PARQUET({{ path | literal }}, hive_partitioning = false)
