"""DCN, discernibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from sqlglot import exp

from sqlanon.domain import Column
from sqlanon.metrics.measurement import Floats, Ints
from sqlanon.metrics.metric import Metric, Numbers, ReleaseCounts, formula
from sqlanon.metrics.scores import Scores
from sqlanon.metrics.suppression import Remaining


class Dcn(Metric):
    """Σ_classes rows² + N · suppressed rows; scaled by N²."""

    key, kind, title, always, full_price = "dcn", "loss", "DCN", True, True
    meaning, by_splits = "discernibility", True
    measure_sums: ClassVar[Mapping[str, str]] = {"rows_squared": "SUM(n_rows * n_rows)"}
    citation = "Bayardo and Agrawal, ICDE 2005"
    evaluation_sql = "rows_squared + source_rows * suppressed"
    scaled_evaluation_sql = "dcn / CAST(source_rows AS DOUBLE) ** 2"

    def of(self, left: Remaining) -> Ints:
        return left.rows_squared + self.histogram.rows * left.suppressed

    @classmethod
    def described(cls) -> dict[str, str]:
        return {"dcn": cls.meaning}

    @classmethod
    def scaled(cls, scores: Scores, rows: int) -> Floats:
        return np.asarray(scores.dcn / float(rows) ** 2)

    @classmethod
    def row_price(cls, columns: Sequence[Column], rows: int) -> int:
        return rows

    @classmethod
    def kept(cls, exact: Numbers, suppressed: Ints, rows: int) -> Numbers:
        # A suppressed class of r rows was charged N·r; without suppression it costs r² ≥ r.
        return np.asarray(exact - (rows - 1) * suppressed)

    @classmethod
    def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
        return {"dcn": formula("CAST(rows_squared + source_rows * suppressed AS BIGINT)")}

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        return {"dcn": counts.rows_squared + counts.source_rows * counts.suppressed}
