"""The Gini coefficient of class sizes."""

from __future__ import annotations

import numpy as np

from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric
from sqlanon.metrics.suppression import Remaining, share


class Gini(Metric):
    """Σ Σ |x − y| / (2 n² mean) over all pairs of released rows, x being a row's class size."""

    key, kind, title = "gini", "bias", "gini"
    meaning = "Gini coefficient of the class sizes that people have"
    evaluation_sql = "sum_below_above / (greatest(released, 1) * greatest(sum_of_sizes, 1))"
    citation = "Gini, Variabilità e mutabilità, 1912"

    def of(self, left: Remaining) -> Floats:
        """Each gap between two levels adds to the difference of all rows below from all above."""
        levels = left.levels
        sums = np.concatenate([[0], np.cumsum(levels.at)])
        up_to = sums[1:] - sums[levels.starts][levels.scheme]
        above = levels.rows[levels.scheme] - up_to
        gap = np.abs(np.diff(levels.size, append=0))  # at a last level, with none above it, any
        differences = np.add.reduceat(gap.astype(np.float64) * (up_to * above), levels.starts)
        return share(differences, levels.rows * levels.total.astype(np.float64))
