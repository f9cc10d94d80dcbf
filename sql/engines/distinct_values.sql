-- reads:  the stored rows of a long answer
-- yields: a table of the different values of one column, numbered from 0
CREATE TABLE {{ made | sql }} AS
SELECT
  CAST(ROW_NUMBER() OVER () - 1 AS INTEGER) AS number,
  value
FROM (
  SELECT DISTINCT {{ column | identifier }} AS value
  FROM {{ answer | sql }}
  WHERE {{ column | identifier }} IS NOT NULL
) AS differing
