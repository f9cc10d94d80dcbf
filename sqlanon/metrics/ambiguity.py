"""Ambiguity: the tuples that a row may come from."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric
from sqlanon.metrics.suppression import Remaining

MAX_TUPLES = 2**1000
"""A sum over rows of so many tuples is a number still; of more, ambiguity is not measured."""


class Ambiguity(Metric):
    """log(Σ_rows Π_j |g| / N) / log(Π_j |Σ_j|), a suppressed row counts all tuples."""

    key, kind, title = "ambiguity", "loss", "ambiguity"
    meaning = "ambiguity: tuples that a row may come from, as a logarithm"
    citation = "Goldberger and Tassa, Transactions on Data Privacy 2010"
    needs_tuples = True
    evaluation_sql = """
        CASE WHEN tuples = 1 THEN 0 ELSE greatest(0, least(1,
            log2((ambiguous + suppressed * tuples) / source_rows) / log2(tuples)))
        END
    """

    @cached_property
    def _tuples(self) -> int:
        """Π_j |Σ_j|: how many different tuples there can be."""
        return math.prod(column.size for column in self.histogram.space.columns)

    @property
    def is_measurable(self) -> bool:
        return self._tuples <= MAX_TUPLES

    def of(self, left: Remaining) -> Floats:
        assert left.ambiguity is not None
        if self._tuples == 1:
            return np.zeros(len(left.k))
        tuples = float(self._tuples)
        mean = (left.ambiguity + left.suppressed * tuples) / self.histogram.rows
        return np.asarray(np.clip(np.log2(mean) / np.log2(tuples), 0, 1))
