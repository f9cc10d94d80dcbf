-- reads:  a verified release
-- yields: a Parquet file
COPY (
  {{ select | sql }}
) TO {{ path | literal }} (
  FORMAT parquet,
  COMPRESSION zstd,
  USE_TMP_FILE false
)
