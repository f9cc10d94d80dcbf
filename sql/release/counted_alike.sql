-- reads:  generalized: the rows of the source as they are released
-- yields: counted: the same rows, those of few different ones together
-- A release has few different rows: each is counted and sorted once and then repeated, which takes
-- half the time of counting and sorting all rows by their texts. The ORDER BY in here does not
-- decide the order of the release, it only makes sorting quick. In no column may equal values be
-- spelled in two ways.
-- the rows that are released alike, once, and how often
alike AS (
  SELECT
    {{ alike | columns }},
    COUNT(*) AS n_rows
  FROM generalized
  GROUP BY {{ alike | ordinals }}
),
-- the same with the number of rows in their class
sized AS (
  SELECT
    {{ names | names("alike") }},
    alike.n_rows,
    SUM(alike.n_rows) OVER (PARTITION BY {{ class | cells }}) AS people
  FROM alike
  ORDER BY {{ order | cells }}
),
-- every row with the number of rows in its class
counted AS (
  SELECT
    {{ names | names("sized") }},
    sized.people,
    UNNEST(RANGE(sized.n_rows)) AS place
  FROM sized
)
