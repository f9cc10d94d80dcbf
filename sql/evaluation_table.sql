-- yields: evaluation, one row per histogram, label and scheme: the raw integers of a
--         measurement (see sqlanon/measurement.py); arrays run over ascending class sizes
CREATE TABLE IF NOT EXISTS evaluation (
  histogram    VARCHAR NOT NULL,
  label        VARCHAR NOT NULL,
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
  PRIMARY KEY (histogram, label, scheme)
);
