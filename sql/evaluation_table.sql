-- yields: evaluation, one row per histogram, label, demands and scheme: the raw numbers of a
--         measurement (see sqlanon/metrics/measurement.py); arrays run over class sizes
CREATE TABLE IF NOT EXISTS evaluation (
  histogram    VARCHAR NOT NULL,
  label        VARCHAR NOT NULL,
  demands      VARCHAR NOT NULL,
  scheme       VARCHAR NOT NULL,
  below        BIGINT NOT NULL,
  budget       BIGINT NOT NULL,
  loss         BIGINT[] NOT NULL,
  size         BIGINT[] NOT NULL,
  classes      BIGINT[] NOT NULL,
  rows         BIGINT[] NOT NULL,
  rows_squared BIGINT[] NOT NULL,
  minority     BIGINT[],
  small_loss   BIGINT[] NOT NULL,
  bad          BIGINT[] NOT NULL,
  reached      DOUBLE[] NOT NULL,
  ambiguity    DOUBLE[],
  PRIMARY KEY (histogram, label, demands, scheme)
);
