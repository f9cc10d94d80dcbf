"""DCN, discernibility."""

from __future__ import annotations

import numpy as np

from sqlanon.metrics.measurement import Floats, Ints
from sqlanon.metrics.metric import Metric, ReleaseCounts
from sqlanon.metrics.scores import Scores
from sqlanon.metrics.suppression import Remaining


class Dcn(Metric):
    """Σ_classes rows² + N · suppressed rows; scaled by N²."""

    key, kind, title, always, full_price = "dcn", "loss", "DCN", True, True
    meaning = "discernibility"
    citation = "Bayardo and Agrawal, ICDE 2005"

    def of(self, left: Remaining) -> Ints:
        return left.rows_squared + self.histogram.rows * left.suppressed

    @classmethod
    def described(cls) -> dict[str, str]:
        return {"dcn": cls.meaning}

    @classmethod
    def scaled(cls, scores: Scores, rows: int) -> Floats:
        return np.asarray(scores.dcn / float(rows) ** 2)

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        return {"dcn": counts.rows_squared + counts.source_rows * counts.suppressed}
