-- yields: run, one row per search, or per evaluator that measures outside of a search: how its
--         measurements came about, and what they are scored with
CREATE TABLE IF NOT EXISTS run (
  run             INTEGER PRIMARY KEY,
  method          VARCHAR,             -- NULL outside of a search
  seed            BIGINT,
  settings        VARCHAR,             -- of the method, as JSON
  k               BIGINT,              -- the k that was searched for
  started         TIMESTAMP NOT NULL,  -- in UTC
  seconds         DOUBLE,              -- NULL until the search ends
  stopped         VARCHAR,             -- why it ended
  asked           BIGINT,              -- schemes, repeated ones included
  measured        BIGINT,
  recalled        BIGINT,              -- found in the workspace file
  forgotten       BIGINT NOT NULL,     -- of `measured`, gone from memory to make room
  -- What a measurement depends on beside its scheme.
  histogram       VARCHAR NOT NULL,
  label           VARCHAR NOT NULL,    -- '' without one
  demands         VARCHAR NOT NULL,
  -- What its scores depend on beside its measurement.
  required_k      BIGINT,              -- NULL where no privacy is required
  below           BIGINT NOT NULL,     -- classes of fewer people are suppressed,
  budget          BIGINT NOT NULL,     -- as long as they have no more rows
  source_rows     BIGINT NOT NULL,
  people          BIGINT NOT NULL,
  columns         VARCHAR[] NOT NULL,  -- the quasi-identifiers
  positions       INTEGER[] NOT NULL,  -- where each can be cut: its bits in a scheme
  weights         DOUBLE[] NOT NULL,   -- of the columns; their sum is 1
  costs           VARCHAR[] NOT NULL,  -- what is summed over rows: 'atoms', then further ones
  wholes          BIGINT[] NOT NULL,   -- by cost and column, the cost of a suppressed cell
  tuples          DOUBLE,              -- tuples that a suppressed row may come from
  asked_for       VARCHAR[] NOT NULL,  -- measures beside those that every scheme has
  models          VARCHAR[] NOT NULL,  -- what is required beyond k
  limits          DOUBLE[] NOT NULL,   -- of the models
  at_least        BOOLEAN[] NOT NULL,  -- whether a limit is the least or the most
  strict          BOOLEAN[] NOT NULL,  -- whether the limit itself is not enough
  loss_by         VARCHAR,             -- the preference: its measures and their values
  bias_by         VARCHAR,
  preferred_loss  DOUBLE,
  preferred_bias  DOUBLE,
  loss_weight     DOUBLE
)
