-- reads:  the state of one attached database
-- yields: one row: the size of its blocks in bytes
SELECT block_size
FROM pragma_database_size()
WHERE database_name = {{ database | literal }}
