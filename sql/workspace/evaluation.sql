-- reads:  run, measurement, recalled, solution
-- yields: evaluation, one row per run and scheme that it met: k, k_max, classes, suppressed; nwp,
--         necd and the other scores (sqlanon/metrics); what is reached of each model, ach,
--         pref_dev, and whether the scheme is feasible
-- A solution that is scored for another k than the run's has a row for that one too.
CREATE OR REPLACE VIEW evaluation AS
WITH
  met AS (
    SELECT run, run AS measured_by, number FROM measurement
    UNION ALL
    SELECT run, measured_by, number FROM recalled
  ),
  -- A scheme that was forgotten is measured again: its last measurement counts.
  scheme AS (
    SELECT met.run, met.measured_by, met.number, measurement.scheme
    FROM met
    JOIN measurement ON measurement.run = met.measured_by AND measurement.number = met.number
    QUALIFY row_number() OVER (
      PARTITION BY met.run, measurement.scheme ORDER BY met.measured_by DESC, met.number DESC
    ) = 1
  ),
  listed AS (
    SELECT run, scheme, list(below) AS belows FROM solution GROUP BY run, scheme
  ),
  scored AS (
    SELECT
      scheme.run, scheme.measured_by, scheme.number, run.budget,
      unnest(list_distinct(list_append(coalesce(listed.belows, []), run.below))) AS below
    FROM scheme
    JOIN run ON run.run = scheme.run
    LEFT JOIN listed ON listed.run = scheme.run AND listed.scheme = scheme.scheme
  ),
  entry AS (
    SELECT
      scored.*,
      generate_subscripts(m.size, 1) AS place, unnest(m.size) AS size,
      unnest(m.classes) AS classes, unnest(m.rows) AS counted_rows,
      unnest(m.rows_squared) AS counted_squares, unnest(m.minority) AS minority,
      unnest(m.bad) AS bad, unnest(m.ambiguity) AS ambiguity
    FROM scored
    JOIN measurement AS m ON m.run = scored.measured_by AND m.number = scored.number
  ),
  class_size AS (
    SELECT
      *, coalesce(counted_rows, size * classes) AS rows,
      coalesce(counted_squares, size * coalesce(counted_rows, size * classes)) AS squares,
      sum(coalesce(counted_rows, size * classes)) OVER (
        PARTITION BY run, measured_by, number, below ORDER BY place
      ) AS up_to
    FROM entry
  ),
  suppressed AS (
    SELECT *, (coalesce(bad, 0) > 0 OR size < below) AND up_to <= budget AS is_out
    FROM class_size
  ),
  remaining_size AS (
    SELECT
      *, CASE WHEN is_out THEN 0 ELSE rows END AS left_rows,
      min(CASE WHEN NOT is_out THEN size END) OVER (
        PARTITION BY run, measured_by, number, below
      ) AS smallest
    FROM suppressed
  ),
  ranked AS (
    SELECT
      *,
      sum(left_rows) OVER (
        PARTITION BY run, measured_by, number, below ORDER BY size, place
      ) AS rows_up_to,
      sum(left_rows) OVER (PARTITION BY run, measured_by, number, below) AS all_rows
    FROM remaining_size
  ),
  -- From here on whole numbers of a scheme.
  total AS (
    SELECT
      run, measured_by, number, below,
      coalesce(any_value(smallest), 0) AS k,
      coalesce(max(size) FILTER (NOT is_out), 0) AS k_max,
      CAST(coalesce(sum(classes) FILTER (NOT is_out), 0) AS BIGINT) AS classes,
      CAST(coalesce(sum(rows) FILTER (is_out), 0) AS BIGINT) AS suppressed,
      CAST(coalesce(sum(squares) FILTER (NOT is_out), 0) AS BIGINT) AS rows_squared,
      CAST(sum(minority * CAST(NOT is_out AS INTEGER)) AS BIGINT) AS minority,
      sum(ambiguity * CAST(NOT is_out AS INTEGER)) AS ambiguous,
      count(*) FILTER (is_out) AS sizes_out,
      sum(left_rows) AS released,
      sum(CASE WHEN size > smallest THEN left_rows ELSE 0 END) AS in_larger,
      sum(left_rows * size) AS sum_of_sizes,
      sum(CAST(left_rows AS HUGEINT) * size * size) AS sum_of_squares,
      sum(CAST(left_rows AS HUGEINT) * size * (2 * rows_up_to - left_rows - all_rows))
        AS sum_below_above
    FROM ranked
    GROUP BY run, measured_by, number, below
  ),
  kept AS (
    SELECT
      total.*, m.scheme, m.reached,
      list_transform(
        m.loss,
        lambda cost, i: cost - coalesce(
          list_sum(m.small_loss[i:total.sizes_out * len(m.loss):len(m.loss)]), 0
        )
      ) AS loss
    FROM total
    JOIN measurement AS m ON m.run = total.measured_by AND m.number = total.number
  ),
  remaining AS (
    SELECT
      kept.*, run.* EXCLUDE (run, below, k, columns), len(run.columns) AS width,
      sqrt(released * sum_of_squares - sum_of_sizes * sum_of_sizes) / greatest(sum_of_sizes, 1)
        AS coefficient,
      list_sum(list_transform(
        kept.loss[1:len(run.columns)],
        lambda cost, i: cost / greatest(run.wholes[i], 1) * run.weights[i]
      )) AS weighted,
      list_transform(run.costs, lambda _, kind: list_sum(list_transform(
        kept.loss[(kind - 1) * len(run.columns) + 1:kind * len(run.columns)],
        lambda cost, i: cost / greatest(run.wholes[(kind - 1) * len(run.columns) + i], 1)
      ))) AS penalties,
      list_transform(run.models, lambda _, i: CASE
        WHEN kept.classes = 0 THEN CASE WHEN run.at_least[i] THEN 0 ELSE 'inf'::DOUBLE END
        WHEN run.at_least[i] THEN list_min(
          kept.reached[kept.sizes_out * len(run.models) + i:len(kept.reached):len(run.models)]
        )
        ELSE list_max(
          kept.reached[kept.sizes_out * len(run.models) + i:len(kept.reached):len(run.models)]
        )
      END) AS worst
    FROM kept
    JOIN run ON run.run = kept.run
  ),
  scores AS (
    SELECT
      run, method, measured_by, number, scheme, below, k, k_max, classes, suppressed, rows_squared,
      source_rows, budget, required_k, worst, limits, at_least, strict,
      loss_by, bias_by, preferred_loss, preferred_bias, loss_weight,
      {{ scores | columns(6) }}
    FROM remaining
  ),
  preferred AS (
    SELECT *, {{ loss | sql }} AS loss, {{ bias | sql }} AS bias
    FROM scores
  )
SELECT
  run, method, number, scheme, CASE WHEN below < {{ unbounded }} THEN below END AS suppressed_below,
  k, k_max, classes, suppressed,
  {{ names | names }},
  worst AS reached,
  greatest(loss_weight * (loss + 1e-6), (1 - loss_weight) * (bias + 1e-6)) AS ach,
  loss + bias - preferred_loss - preferred_bias AS pref_dev,
  CASE WHEN required_k IS NOT NULL THEN
    k >= required_k AND (k >= below OR budget = 0 OR below = {{ unbounded }}) AND list_bool_and(list_transform(worst, lambda value, i: CASE
      WHEN strict[i] AND value = limits[i] THEN false
      WHEN at_least[i] THEN value >= limits[i]
      ELSE value <= limits[i]
    END)) IS NOT false
  END AS feasible
FROM preferred
