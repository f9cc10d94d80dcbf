-- reads:  nothing but its parameters
-- yields: a synthetic table of people, the same on every machine: person_id BIGINT (1 to $rows),
--         first_name, last_name, sex ('F', 'M', 'X'), birth_date DATE (1925 to 2024), zip (5
--         digits), city, income INTEGER, diagnosis.
--         NULL: zip 0.5 %, birth_date 0.2 %, diagnosis 1 %, income 2 % and everyone under 16.
-- params: $rows how many people; $seed an integer
--
-- Each person's random numbers are the MD5 of seed and number, cut into sixteen fields of 16
-- bits. A field u is uniform on 0 to 65535 and used for one purpose only, so choices are
-- independent unless the query relates them. All arithmetic is on integers.
-- Picking from a list of n: (u * n) >> 16 is even, (u * u * n) >> 32 favours the front,
-- (u * u * u * n) >> 48 favours it strongly.
WITH
-- Two 128-bit digests per person. One md5_number call is several times cheaper than
-- md5_number_lower and md5_number_upper, and holds the bits of both.
digests AS (
    SELECT
        range AS person_id,
        md5_number(concat($seed::BIGINT, ':', range, ':who')) AS who,
        md5_number(concat($seed::BIGINT, ':', range, ':what')) AS what
    FROM range(1, $rows::BIGINT + 1)
),

-- Four words of 64 bits.
words AS (
    SELECT
        person_id,
        (who >> 64)::UBIGINT AS who_high,
        (who & 18446744073709551615)::UBIGINT AS who_low,
        (what >> 64)::UBIGINT AS what_high,
        (what & 18446744073709551615)::UBIGINT AS what_low
    FROM digests
),

-- Sixteen fields of 16 bits, signed from here on; birth takes two of them.
fields AS (
    SELECT
        person_id,
        (who_high & 65535)::BIGINT AS u_first_name,
        ((who_high >> 16) & 65535)::BIGINT AS u_last_name,
        ((who_high >> 32) & 65535)::BIGINT AS u_sex,
        (who_high >> 48)::BIGINT AS u_diagnosis,
        (who_low & 4294967295)::BIGINT AS u_birth,
        ((who_low >> 32) & 65535)::BIGINT AS u_city,
        (who_low >> 48)::BIGINT AS u_zip,
        (what_high & 65535)::BIGINT AS u_income_1,
        ((what_high >> 16) & 65535)::BIGINT AS u_income_2,
        ((what_high >> 32) & 65535)::BIGINT AS u_income_3,
        (what_high >> 48)::BIGINT AS u_income_4,
        (what_low & 65535)::BIGINT AS u_no_income,
        ((what_low >> 16) & 65535)::BIGINT AS u_no_diagnosis,
        ((what_low >> 32) & 65535)::BIGINT AS u_no_zip,
        (what_low >> 48)::BIGINT AS u_no_birth_date
    FROM words
),

-- Sex, home and the slice of the age pyramid: the choices that others depend on.
-- A slice holds 1/64 of the people; cities are numbered by size, 0 is the largest.
drawn AS (
    SELECT
        *,
        CASE WHEN u_sex < 33096 THEN 'F' WHEN u_sex < 65208 THEN 'M' ELSE 'X' END AS sex,
        (u_city * u_city * u_city * 60) >> 48 AS city_number,
        u_birth >> 26 AS age_slice,
        u_birth & 67108863 AS within_slice
    FROM fields
),

-- The age at which each slice begins and ends, in years.
sliced AS (
    SELECT
        *,
        [0, 1, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 17, 18, 19,
         20, 22, 23, 24, 25, 27, 28, 29, 30, 31, 33, 34, 35, 36, 38, 39,
         40, 41, 43, 44, 45, 46, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59,
         61, 62, 63, 65, 66, 68, 69, 71, 72, 74, 76, 78, 80, 83, 86, 90][age_slice + 1]::BIGINT
            AS slice_from,
        [1, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 17, 18, 19, 20,
         22, 23, 24, 25, 27, 28, 29, 30, 31, 33, 34, 35, 36, 38, 39, 40,
         41, 43, 44, 45, 46, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59, 61,
         62, 63, 65, 66, 68, 69, 71, 72, 74, 76, 78, 80, 83, 86, 90, 100][age_slice + 1]::BIGINT
            AS slice_to
    FROM drawn
),

-- Days lived on the first of January 2025; a hundred years are 36525 days.
aged AS (
    SELECT
        *,
        ((slice_from << 26) + (slice_to - slice_from) * within_slice) * 1461 >> 28 AS days_lived
    FROM sliced
),

described AS (
    SELECT
        *,
        days_lived * 4 // 1461 AS age,
        DATE '2025-01-01' - (days_lived + 1)::INTEGER AS birth_date,

        -- Three digits name the city, scattered over the country; two the district.
        -- The larger a city, the more districts it has: 100, 99, 98, ...
        lpad(((city_number * 37 + 11) % 60 * 16 + 17)::VARCHAR, 3, '0')
            || lpad(((u_zip * u_zip * (100 - city_number)) >> 32)::VARCHAR, 2, '0') AS zip,
        ['Northhaven', 'Port Ellery', 'Gransfield', 'Lake Corin', 'Marrowby', 'Eastmere',
         'Stonebridge', 'Alderton', 'Kingsrow', 'Bellwater', 'Cold Harbor', 'Ferndale Cross',
         'Westbrook Falls', 'Tamarind', 'Old Quarry', 'Redcliff', 'Silverton Bay', 'Hartwick',
         'Pinecrest', 'Summerlee', 'Millrace', 'Dunmore Park', 'Oakhollow', 'Greywater',
         'Saint Orrin', 'Fallow Creek', 'Thornbury', 'Larkspur', 'Ironwood', 'Copperhill',
         'Windmere', 'Brackenford', 'Juniper Flats', 'Elmsworth', 'Whitesand', 'Ravensmoor',
         'Clearspring', 'Harrowgate', 'Maplethorpe', 'Lower Tansy', 'Briar Glen', 'Foxcombe',
         'Sandpiper', 'Amberley', 'Three Rivers', 'Cedar Point', 'Ashdown', 'Mossbank',
         'Long Meadow', 'Heronsgate', 'Blackfen', 'Upper Tansy', 'Swallowfield', 'Kestrel',
         'Barley Hill', 'Nettlewood', 'Quince', 'Hollin', 'Dovecote', 'Last Chance'
        ][city_number + 1] AS city,

        -- People of sex X carry names from both lists.
        CASE WHEN sex = 'F' OR (sex = 'X' AND u_sex % 2 = 0)
            THEN ['Mary', 'Anna', 'Sofia', 'Emma', 'Laura', 'Elena', 'Grace', 'Julia',
                  'Nora', 'Alice', 'Fatima', 'Mei', 'Ingrid', 'Priya', 'Carmen', 'Ruth',
                  'Amara', 'Yuki', 'Leila', 'Olga'][((u_first_name * u_first_name * 20) >> 32) + 1]
            ELSE ['James', 'David', 'Daniel', 'Thomas', 'Luis', 'Peter', 'Samuel', 'Adam',
                  'Victor', 'Omar', 'Henry', 'Marco', 'Ivan', 'Wei', 'Arjun', 'Felix',
                  'Kofi', 'Hiro', 'Tariq', 'Soren'][((u_first_name * u_first_name * 20) >> 32) + 1]
        END AS first_name,
        ['Smith', 'Garcia', 'Johnson', 'Brown', 'Miller', 'Davis', 'Lopez', 'Wilson',
         'Nguyen', 'Anderson', 'Taylor', 'Martin', 'Lee', 'Moore', 'Clark', 'Lewis',
         'Walker', 'Young', 'Allen', 'King', 'Wright', 'Scott', 'Hill', 'Green',
         'Adams', 'Baker', 'Rivera', 'Campbell', 'Patel', 'Carter', 'Torres', 'Murphy',
         'Cook', 'Rogers', 'Kim', 'Ward', 'Peterson', 'Gray', 'Silva', 'Bennett',
         'Wood', 'Kowalski', 'Haddad', 'Chen', 'Ross', 'Foster', 'Jensen', 'Novak',
         'Okafor', 'Singh', 'Rossi', 'Weber', 'Dubois', 'Tanaka', 'Larsen', 'Moreau',
         'Ivanova', 'Mbeki', 'O''Brien', 'Quist'][((u_last_name * u_last_name * 60) >> 32) + 1]
            AS last_name,

        -- The mean by five-year age group, in thousands, times four factors between 0.2 and
        -- 1.8 (128 to 1151 over 640; their product is close to log-normal), to the nearest
        -- 100: ten hundreds a thousand, so the divisor is 640^4 / 10, and half of it rounds.
        (([0, 0, 0, 6, 24, 38, 48, 56, 62, 66,
           68, 67, 60, 44, 36, 32, 29, 27, 26, 25][age // 5 + 1]
            * ((u_income_1 >> 6) + 128) * ((u_income_2 >> 6) + 128)
            * ((u_income_3 >> 6) + 128) * ((u_income_4 >> 6) + 128) + 8388608000) // 16777216000
        * 100)::INTEGER AS income,

        -- The list is chosen by age and sex, each in order of frequency.
        CASE
            WHEN age < 16
            THEN ['Common cold', 'Otitis media', 'Asthma', 'Eczema', 'Allergic rhinitis',
                  'Gastroenteritis', 'Fracture', 'Influenza', 'ADHD', 'Epilepsy'
                 ][((u_diagnosis * u_diagnosis * 10) >> 32) + 1]
            WHEN age < 50 AND sex = 'F'
            THEN ['Common cold', 'Depression', 'Migraine', 'Anxiety disorder', 'Back pain',
                  'Pregnancy', 'Influenza', 'Allergic rhinitis', 'Anemia', 'Asthma',
                  'Hypothyroidism', 'Endometriosis', 'Diabetes type 2', 'Epilepsy',
                  'Breast cancer', 'HIV'][((u_diagnosis * u_diagnosis * 16) >> 32) + 1]
            WHEN age < 50
            THEN ['Common cold', 'Back pain', 'Influenza', 'Fracture', 'Depression',
                  'Anxiety disorder', 'Allergic rhinitis', 'Hypertension', 'Asthma',
                  'Alcohol dependence', 'Gastroenteritis', 'Diabetes type 2', 'Migraine',
                  'Epilepsy', 'Hepatitis C', 'HIV'
                 ][((u_diagnosis * u_diagnosis * 16) >> 32) + 1]
            WHEN sex = 'F'
            THEN ['Hypertension', 'Arthrosis', 'Diabetes type 2', 'Back pain', 'Osteoporosis',
                  'Depression', 'Heart failure', 'Hypothyroidism', 'Cataract', 'Influenza',
                  'Dementia', 'Breast cancer', 'COPD', 'Stroke', 'Kidney disease',
                  'Parkinson disease'][((u_diagnosis * u_diagnosis * 16) >> 32) + 1]
            ELSE ['Hypertension', 'Diabetes type 2', 'Coronary disease', 'Back pain', 'Arthrosis',
                  'COPD', 'Heart failure', 'Influenza', 'Prostate cancer', 'Cataract',
                  'Stroke', 'Kidney disease', 'Dementia', 'Alcohol dependence',
                  'Parkinson disease', 'Hepatitis C'
                 ][((u_diagnosis * u_diagnosis * 16) >> 32) + 1]
        END AS diagnosis
    FROM aged
)

SELECT
    person_id,
    first_name,
    last_name,
    sex,
    CASE WHEN u_no_birth_date >= 131 THEN birth_date END AS birth_date,
    CASE WHEN u_no_zip >= 328 THEN zip END AS zip,
    city,
    CASE WHEN u_no_income >= 1311 AND age >= 16 THEN income END AS income,
    CASE WHEN u_no_diagnosis >= 655 THEN diagnosis END AS diagnosis
FROM described
