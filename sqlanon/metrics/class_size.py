"""The average class size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from sqlanon.domain import Column
from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric, formula
from sqlanon.metrics.suppression import Remaining


class AverageClassSize(Metric):
    """(N / classes − 1) / (N − 1), where all suppressed rows count as one more class.

    LeFevre also divides by k, which is the same for all schemes of a search.
    """

    key, kind, title = "class_size", "loss", "class size"
    meaning = "average class size beside the whole table"
    evaluation_sql = """
        (source_rows / (classes + CAST(suppressed > 0 AS INTEGER)) - 1)
        / greatest(source_rows - 1, 1)
    """
    citation = "LeFevre, DeWitt and Ramakrishnan, Mondrian, ICDE 2006"

    def of(self, left: Remaining) -> Floats:
        rows = self.histogram.rows
        average = rows / (left.classes + (left.suppressed > 0))
        return np.asarray((average - 1) / max(rows - 1, 1))

    @classmethod
    def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
        parts = "classes + CASE WHEN suppressed > 0 THEN 1 ELSE 0 END"
        average = f"CAST(source_rows AS DOUBLE) / ({parts})"
        share = f"({average} - 1) / (source_rows - 1)"
        return {"class_size": formula(f"CASE WHEN source_rows > 1 THEN {share} ELSE 0 END")}
