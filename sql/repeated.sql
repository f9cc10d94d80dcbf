-- reads:  a histogram that was counted elsewhere
-- yields: one row per row that was counted
SELECT
  {{ names | names("counted") }}
FROM {{ histogram | sql }}
CROSS JOIN RANGE(CAST(counted.sqlanon_rows AS BIGINT)) AS repeated
