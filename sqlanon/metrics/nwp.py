"""NWP, the normalized weighted penalty."""

from __future__ import annotations

import numpy as np

from sqlanon.metrics.measurement import DIGITS, Floats
from sqlanon.metrics.metric import Metric, ReleaseCounts
from sqlanon.metrics.suppression import Remaining


class Nwp(Metric):
    """Σ_rows Σ_j w_j (|g|−1)/(|Σ_j|−1) / N, weights sum to 1; a suppressed row counts 1."""

    key, kind, title, always, full_price = "nwp", "loss", "NWP", True, True
    meaning = "normalized weighted penalty: information lost"
    citation = "Dewri, Ray, Ray and Whitley, GECCO 2009"

    def of(self, left: Remaining) -> Floats:
        columns = self.histogram.space.columns
        whole = sum(c.weight for c in columns)
        total = left.suppressed.astype(np.float64)
        # Column by column: a matrix product may round a scheme differently in another batch.
        for column, penalty in zip(columns, left.penalties.T, strict=True):
            total += penalty * (column.weight / whole)
        return np.asarray((total / self.histogram.rows).round(DIGITS))

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        lost = sum(counts.losses[name] * weight for name, weight in counts.weights.items())
        return {"nwp": lost / sum(counts.weights.values())}
