"""GLM, the general loss metric."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from sqlanon.domain import Column
from sqlanon.metrics.measurement import DIGITS, Floats, Ints
from sqlanon.metrics.metric import Metric, Numbers, ReleaseCounts, added, divided
from sqlanon.metrics.scores import Scores
from sqlanon.metrics.suppression import Remaining

UNLIMITED = 2**62
"""Whole numbers below it fit 64 bits, sums of two of them too."""


class Glm(Metric):
    """Σ_rows Σ_j (|g|−1)/(|Σ_j|−1), a suppressed row counts 1 per column; scaled by rows · columns.

    `glm_units` is the same in whole units, exact, for searches that decide by ties.
    """

    key, kind, title, always, full_price = "glm", "loss", "GLM", True, True
    meaning = "general loss metric"
    citation = "Iyengar, KDD 2002"
    evaluation_sql = "suppressed * width + penalties[1]"
    scaled_evaluation_sql = "glm_share"

    def of(self, left: Remaining) -> Floats:
        total = left.suppressed * float(len(self.histogram.space.columns))
        for penalty in left.penalties.T:
            total += penalty
        return np.asarray(total)

    def fields(self, left: Remaining) -> dict[str, Numbers]:
        columns, glm = self.histogram.space.columns, self.of(left)
        return {
            "glm": glm,
            "glm_share": (glm / (self.histogram.rows * len(columns))).round(DIGITS),
            "glm_units": glm_units(left, columns),
        }

    @classmethod
    def evaluation_columns(cls) -> dict[str, str]:
        share = f"round(({cls.evaluation_sql}) / (source_rows * width), 12)"
        return {**super().evaluation_columns(), "glm_share": share}

    @classmethod
    def described(cls) -> dict[str, str]:
        return {"glm": cls.meaning, "glm_share": f"{cls.meaning}, as a share of its maximum"}

    @classmethod
    def scaled(cls, scores: Scores, rows: int) -> Floats:
        return scores.glm_share

    @classmethod
    def exact(cls, scores: Scores, rows: int) -> Ints:
        return scores.glm_units

    @classmethod
    def row_price(cls, columns: Sequence[Column], rows: int) -> int:
        return _unit(columns) * len(columns)

    @classmethod
    def column_prices(cls, losses: Ints, columns: Sequence[Column], rows: int) -> list[Numbers]:
        unit = _unit(columns)
        exact = np.int64 if unit * rows * len(columns) < UNLIMITED else object
        steps = [max(c.size - 1, 1) for c in columns]
        return [losses[:, j].astype(exact) * (unit // step) for j, step in enumerate(steps)]

    @classmethod
    def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
        suppressed = exp.column("suppressed") * len(shares)
        glm = added([suppressed, *(share for _, share in shares)])
        most = exp.paren(exp.column("source_rows") * len(shares))
        return {"glm": glm, "glm_share": divided(exp.paren(glm), most)}

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        glm = sum(counts.losses.values()) * counts.source_rows
        return {"glm": glm, "glm_share": glm / (counts.source_rows * len(counts.losses))}


def _unit(columns: Sequence[Column]) -> int:
    """The least common multiple of all |Σ_j| − 1."""
    return math.lcm(*(max(c.size - 1, 1) for c in columns))


def glm_units(left: Remaining, columns: Sequence[Column]) -> Ints:
    """GLM times the least common multiple of all |Σ_j| − 1: a whole number."""
    unit = _unit(columns)
    factors = [unit // max(c.size - 1, 1) for c in columns]
    loss, suppressed = left.loss, left.suppressed
    largest = int(loss.max(initial=0)) + int(suppressed.max(initial=0))
    if largest * unit * len(columns) >= UNLIMITED:
        loss, suppressed = loss.astype(object), suppressed.astype(object)
    return np.asarray(loss @ np.array(factors, dtype=loss.dtype) + suppressed * unit * len(columns))
