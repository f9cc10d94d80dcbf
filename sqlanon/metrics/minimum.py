"""The share of rows that are better protected than the least protected."""

from __future__ import annotations

import numpy as np

from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric
from sqlanon.metrics.suppression import Remaining, share


class Minimum(Metric):
    """Released rows in classes larger than the smallest, as a share of the released rows."""

    key, kind, title = "minimum", "bias", "minimum"
    meaning = "share of rows in classes larger than the smallest"
    citation = "none; see docs/scores.md"
    evaluation_sql = "in_larger / greatest(released, 1)"

    def of(self, left: Remaining) -> Floats:
        levels = left.levels
        larger = np.where(levels.size > left.k[levels.scheme], levels.at, 0)
        return share(np.add.reduceat(larger, levels.starts), levels.rows)
