-- reads:  a verified release
-- yields: a Parquet file with a mark that allows a later release to replace it
COPY (
  {{ select | sql }}
) TO {{ path | literal }} (
  FORMAT parquet,
  COMPRESSION zstd,
  KV_METADATA {sqlanon: {{ mark | literal }}},
  USE_TMP_FILE false
)
