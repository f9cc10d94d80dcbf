"""The coefficient of variation of class sizes."""

from __future__ import annotations

import numpy as np

from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric
from sqlanon.metrics.suppression import Remaining, share


class Variation(Metric):
    """cv / (1 + cv), cv being the standard deviation of the rows' class sizes by their mean."""

    key, kind, title = "variation", "bias", "variation"
    meaning = "cv / (1 + cv), cv the coefficient of variation of people's class sizes"
    citation = "Pearson, 1896"
    evaluation_sql = "coefficient / (1 + coefficient)"

    def of(self, left: Remaining) -> Floats:
        levels = left.levels
        deviation = levels.size * levels.rows[levels.scheme] - levels.total[levels.scheme]
        squares = np.add.reduceat(levels.at * deviation.astype(np.float64) ** 2, levels.starts)
        cv = share(np.sqrt(share(squares, levels.rows)), levels.total)
        return np.asarray(cv / (1 + cv))
