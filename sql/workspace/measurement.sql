-- yields: measurement, one row per run and scheme that it measured: the scheme as bits, and whole
--         numbers from which every score follows. Lists run over the distinct class sizes, in the
--         order in which classes are suppressed.
CREATE TABLE IF NOT EXISTS measurement (
  run          INTEGER NOT NULL,
  number       INTEGER NOT NULL,   -- counts the measurements of the run
  scheme       BLOB NOT NULL,      -- a bit per place where a column can be cut, columns in bytes
  below        BIGINT NOT NULL,    -- the classes that small_loss knows: smaller than this,
  budget       BIGINT NOT NULL,    -- as long as they have no more rows
  loss         BIGINT[] NOT NULL,  -- by cost and column, the sum over rows
  size         BIGINT[] NOT NULL,  -- of a class, in people
  classes      BIGINT[] NOT NULL,  -- how many have that size
  rows         BIGINT[],           -- in them; NULL for size * classes
  rows_squared BIGINT[],           -- sum over them of rows²; NULL for size * rows
  minority     BIGINT[],           -- rows not of their class's majority label; NULL without one
  bad          BIGINT[],           -- 1 where a model does not hold; NULL for 0
  small_loss   BIGINT[],           -- by class size, as loss; NULL where no class may go
  reached      DOUBLE[],           -- by class size, a number per model; NULL without models
  ambiguity    DOUBLE[]            -- sum over rows of the tuples they may come from
)
