WITH `generalized` /* one row per row of the source, as it is released */ AS (
  SELECT
    CASE
      WHEN `source`.`age` >= 0 AND `source`.`age` < 25
      THEN '[0, 25)'
      WHEN `source`.`age` >= 25 AND `source`.`age` < 60
      THEN '[25, 60)'
      WHEN `source`.`age` >= 60 AND `source`.`age` <= 90
      THEN '[60, 90]'
      ELSE '(not in the scheme)'
    END AS `age`,
    CASE
      WHEN `source`.`city` COLLATE `UTF8_BINARY` IN ('Rome', 'Milan')
      THEN 'Italy'
      WHEN `source`.`city` COLLATE `UTF8_BINARY` IN ('Oslo', 'Bergen')
      THEN 'Norway'
      WHEN `source`.`city` IS NULL
      THEN NULL
      ELSE '(not in the scheme)'
    END AS `city`
  FROM `people` AS `source`
), `counted` /* every row with the number of rows in its class */ AS (
  SELECT
    `generalized`.`age`,
    `generalized`.`city`,
    COUNT(*) OVER (
      PARTITION BY `generalized`.`age` COLLATE `UTF8_BINARY`, `generalized`.`city` COLLATE `UTF8_BINARY`
    ) AS `people`
  FROM `generalized`
)
SELECT
  `counted`.`age`,
  `counted`.`city`
FROM `counted`
WHERE
  `counted`.`people` >= 2
ORDER BY
  1,
  2;
