-- reads:  a Parquet file
-- yields: one row if it has the mark of copy_parquet.sql, else none
SELECT 1 AS marked
FROM parquet_kv_metadata({{ path | literal }})
WHERE DECODE(key) = 'sqlanon' AND DECODE(value) = {{ mark | literal }}
