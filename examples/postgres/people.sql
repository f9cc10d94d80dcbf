-- 1,200 invented people: every draw is a hash of their number, so that every run makes the same.
CREATE SCHEMA IF NOT EXISTS shared;
CREATE TABLE public.people AS
SELECT
  n AS id,
  18 + abs(hashint4(n)) % 70 AS age,
  (ARRAY['Aalen', 'Biel', 'Como', 'Dole'])[1 + abs(hashint4(n * 3)) % 4] AS town,
  (ARRAY['F', 'M'])[1 + abs(hashint4(n * 5)) % 2] AS sex,
  (ARRAY['flu', 'gout', 'cold', 'burn', 'none'])[1 + abs(hashint4(n * 7)) % 5] AS diagnosis
FROM generate_series(1, 1200) AS numbers (n);
