-- yields: recalled, one row per run and measurement of another run that it used
CREATE TABLE IF NOT EXISTS recalled (
  run         INTEGER NOT NULL,
  measured_by INTEGER NOT NULL,  -- the other run
  number      INTEGER NOT NULL
)
