WITH `generalized` AS (
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
), `small_classes` AS (
  SELECT
    `age` COLLATE `UTF8_BINARY` AS `age`,
    `city` COLLATE `UTF8_BINARY` AS `city`,
    TRUE AS `is_small`
  FROM `generalized`
  GROUP BY
    1,
    2
  HAVING
    COUNT(*) < 2
)
SELECT
  `generalized`.`age`,
  `generalized`.`city`
FROM `generalized`
LEFT JOIN `small_classes`
  ON `generalized`.`age` COLLATE `UTF8_BINARY` IS NOT DISTINCT FROM `small_classes`.`age`
  AND `generalized`.`city` COLLATE `UTF8_BINARY` IS NOT DISTINCT FROM `small_classes`.`city`
WHERE
  `small_classes`.`is_small` IS NULL
ORDER BY
  1,
  2;
