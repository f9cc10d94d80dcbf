"""CE, classification error."""

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


class Ce(Metric):
    """(suppressed rows + rows not of their class's majority label) / N; NaN without a label."""

    key, kind, title, always, full_price = "ce", "loss", "CE", True, True
    meaning = "classification error"
    citation = "Iyengar, KDD 2002"
    needs_label = True
    measure_sums: ClassVar[Mapping[str, str]] = {"minority_rows": "SUM(minority)"}
    evaluation_sql = "(suppressed + minority) / source_rows"

    def of(self, left: Remaining) -> Floats:
        if left.minority is None:
            return np.full(len(left.k), np.nan)
        return (left.suppressed + left.minority) / self.histogram.rows

    @classmethod
    def described(cls) -> dict[str, str]:
        return {"ce": cls.meaning}

    @classmethod
    def exact(cls, scores: Scores, rows: int) -> Ints:
        return np.rint(scores.ce * rows).astype(np.int64)

    @classmethod
    def row_price(cls, columns: Sequence[Column], rows: int) -> int:
        return 1

    @classmethod
    def kept(cls, exact: Numbers, suppressed: Ints, rows: int) -> Numbers:
        return np.asarray(exact - suppressed)

    @classmethod
    def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
        return {"ce": formula("CAST(suppressed + minority_rows AS DOUBLE) / source_rows")}

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        if counts.of_majority is None:
            return {}
        # A row that is not released is an error.
        return {"ce": (counts.source_rows - counts.of_majority) / max(counts.source_rows, 1)}
