-- reads:  generalized: the rows of the source as they are released
-- yields: counted: the same rows
-- every row with the number of rows in its class
counted AS (
  SELECT
    {{ names | names("generalized") }},
    COUNT(*) OVER (PARTITION BY {{ class | cells }}) AS people
  FROM generalized
)
