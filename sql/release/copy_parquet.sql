-- reads:  a verified release
-- yields: a Parquet file with a mark by which a later release knows that it may replace it
COPY (
  {{ select | sql }}
) TO {{ path | literal }} (
  FORMAT parquet,
  COMPRESSION zstd,
  KV_METADATA {sqlanon: {{ mark | literal }}},
  USE_TMP_FILE false
)
