"""The average class size."""

from __future__ import annotations

import numpy as np

from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric
from sqlanon.metrics.suppression import Remaining


class AverageClassSize(Metric):
    """(N / classes − 1) / (N − 1), where all suppressed rows count as one more class.

    LeFevre also divides by k, which is the same for all schemes of a search.
    """

    key, kind, title = "class_size", "loss", "class size"
    meaning = "average class size beside the whole table"
    citation = "LeFevre, DeWitt and Ramakrishnan, Mondrian, ICDE 2006"

    def of(self, left: Remaining) -> Floats:
        rows = self.histogram.rows
        average = rows / (left.classes + (left.suppressed > 0))
        return np.asarray((average - 1) / max(rows - 1, 1))
