-- sqlanon fills this table with 12 rows
CREATE TEMPORARY TABLE "temp"."main"."sqlanon_stage_list_1" (
  "value" TEXT,
  "label" TEXT
)
