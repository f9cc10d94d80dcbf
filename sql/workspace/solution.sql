-- yields: solution, one row per run and scheme in its result
CREATE TABLE IF NOT EXISTS solution (
  run    INTEGER NOT NULL,
  scheme BLOB NOT NULL,
  below  BIGINT NOT NULL  -- the scheme is scored with classes of fewer people suppressed
)
