"""NWP, the normalized weighted penalty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from sqlanon.domain import Column
from sqlanon.metrics.measurement import DIGITS, Floats, Ints
from sqlanon.metrics.metric import SLACK, Metric, Numbers, ReleaseCounts, added, divided
from sqlanon.metrics.suppression import Remaining


class Nwp(Metric):
    """Σ_rows Σ_j w_j (|g|−1)/(|Σ_j|−1) / N, weights sum to 1; a suppressed row counts 1."""

    key, kind, title, always, full_price = "nwp", "loss", "NWP", True, True
    meaning = "normalized weighted penalty: information lost"
    citation = "Dewri, Ray, Ray and Whitley, GECCO 2009"
    evaluation_sql = "round((suppressed + weighted) / source_rows, 12)"

    def of(self, left: Remaining) -> Floats:
        columns = self.histogram.space.columns
        whole = sum(c.weight for c in columns)
        total = left.suppressed.astype(np.float64)
        # Column by column: a matrix product may round a scheme differently in another batch.
        for column, penalty in zip(columns, left.penalties.T, strict=True):
            total += penalty * (column.weight / whole)
        return np.asarray((total / self.histogram.rows).round(DIGITS))

    @classmethod
    def column_prices(cls, losses: Ints, columns: Sequence[Column], rows: int) -> list[Numbers]:
        weights = np.array([c.weight for c in columns])
        weights = weights / weights.sum() / rows * (1 - SLACK)
        steps = [max(c.size - 1, 1) for c in columns]
        return [losses[:, j] / step * weights[j] for j, step in enumerate(steps)]

    @classmethod
    def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
        whole = sum(column.weight for column, _ in shares)
        weights = [exp.convert(column.weight / whole) for column, _ in shares]
        lost = [
            exp.Mul(this=share.copy(), expression=weight)
            for (_, share), weight in zip(shares, weights, strict=True)
        ]
        every = exp.paren(added([exp.column("suppressed"), *lost]))
        return {"nwp": divided(every, exp.column("source_rows"))}

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        lost = sum(counts.losses[name] * weight for name, weight in counts.weights.items())
        return {"nwp": lost / sum(counts.weights.values())}
