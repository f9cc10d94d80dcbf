"""Further measures of information loss and of bias; computed only when somebody asks for them.

All lie between 0 and 1, and 0 is the ideal. N is the number of rows, s the suppressed ones,
|Σ_j| the atoms of column j, |g| those of a row's group. Loss:

    class_size  (N / (classes + [s > 0]) − 1) / (N − 1): the average class, all suppressed rows
                being one                               (LeFevre, DeWitt & Ramakrishnan, ICDE 2006)
    precision   Σ_rows Σ_j height(g)/height_j / (N · columns), the loss 1 − Prec; a suppressed row
                counts 1 a column. height(g) is the least level of the hierarchy on which the
                atoms of g are together                               (Sweeney, IJUFKS 10(5), 2002)
    entropy     Σ_rows Σ_j H(g)/H_j / (N · columns), H(g) = Σ_{a∈g} (n_a/n_g) log2(n_g/n_a) with
                the rows n of the source, H_j that of the whole column; a suppressed row counts 1
                a column. Over all rows of a group it adds up to the non-uniform entropy, by
                which it is often known                       (Gionis & Tassa, TKDE 21(2), 2009)
    ambiguity   log AM / log Π_j |Σ_j|, AM = Σ_rows Π_j |g_j| / N: the tuples that a released one
                may come from; a suppressed row may be any        (Goldberger & Tassa, TDP 3, 2010)

Bias. The privacy level x of a row is the size of its class, in people; n is the rows released.
Dewri et al. (TKDE 2011) measure bias by the largest level and the smallest alone (NECD), and leave
other notions of homogeneous levels open. These three see every row:

    gini        Σ_i Σ_j |x_i − x_j| / (2 n² mean): Gini coefficient, mean difference of two rows
    variation   cv / (1 + cv), cv = standard deviation / mean
    minimum     share of the rows that are in a class larger than the smallest

A column of height or entropy 0 counts 0 in released rows. With no row released, the bias is 0.
Ambiguity is NaN where Π_j |Σ_j| is more than MAX_TUPLES.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from sqlanon.histogram import Histogram
from sqlanon.measurement import Floats, Ints, Measurements
from sqlanon.metrics.entropy import entropy_of_column
from sqlanon.metrics.release import Released
from sqlanon.model import BiasName, LossName
from sqlanon.suppression import Rule

FURTHER: tuple[LossName | BiasName, ...] = (
    LossName.CLASS_SIZE,
    LossName.PRECISION,
    LossName.ENTROPY,
    LossName.AMBIGUITY,
    BiasName.GINI,
    BiasName.VARIATION,
    BiasName.MINIMUM,
)
"""The columns of Scores.further."""

PRICED: tuple[LossName, ...] = (LossName.PRECISION, LossName.ENTROPY)
"""Measures that give every group a price: the blocks of Measurement.loss after the first."""

MAX_TUPLES = 2**1000
"""A sum over rows of so many tuples is a number still; of more, ambiguity is not measured."""


def priced(asked: Collection[LossName | BiasName]) -> list[LossName]:
    """Which of PRICED are asked for, in its order."""
    return [name for name in PRICED if name in asked]


def measurable(
    histogram: Histogram, asked: Collection[LossName | BiasName]
) -> set[LossName | BiasName]:
    """What can be measured of all that is asked for: ambiguity only up to MAX_TUPLES."""
    countable = _tuples(histogram) <= MAX_TUPLES
    return {name for name in asked if countable or name is not LossName.AMBIGUITY}


class FurtherMeasures:
    """Those of FURTHER that are asked for, of schemes of one histogram."""

    def __init__(self, histogram: Histogram, asked: Collection[LossName | BiasName]) -> None:
        measured = measurable(histogram, asked)
        self.asked = tuple(name for name in FURTHER if name in measured)
        self._rows = histogram.rows
        self._tuples = _tuples(histogram)
        self._wholes: dict[LossName | BiasName, list[int]] = {
            name: _wholes(name, histogram) for name in priced(measured)
        }

    def of(self, measured: Measurements, released: Released, suppression: Rule) -> Floats:
        """One column for each of FURTHER, NaN where it is not asked for or cannot be had.

        `measured` was measured for all that is asked for; `released` is what `suppression` leaves.
        """
        found = none_of(len(measured))
        levels = _Levels(measured, suppression)
        for name in self.asked:
            match name:
                case LossName.CLASS_SIZE:
                    values = self._class_size(released)
                case LossName.PRECISION | LossName.ENTROPY:
                    values = self._share(released, name)
                case LossName.AMBIGUITY:
                    values = self._ambiguity(released)
                case BiasName.GINI:
                    values = levels.gini()
                case BiasName.VARIATION:
                    values = levels.variation()
                case _:
                    values = levels.minimum(released.k)
            found[:, FURTHER.index(name)] = values
        return found

    def _class_size(self, released: Released) -> Floats:
        average = self._rows / (released.classes + (released.suppressed > 0))
        return np.asarray((average - 1) / max(self._rows - 1, 1))

    def _share(self, released: Released, name: LossName | BiasName) -> Floats:
        """The mean over all cells of what they cost, as a share of what telling nothing costs."""
        price = [*self._wholes].index(name)
        wholes = self._wholes[name]
        total = released.suppressed * float(len(wholes))
        # Column by column: a matrix product may round a scheme differently in another batch.
        for column, whole in enumerate(wholes):
            total += released.priced[:, price, column] / max(whole, 1)
        return np.asarray(total / (self._rows * len(wholes)))

    def _ambiguity(self, released: Released) -> Floats:
        assert released.ambiguity is not None
        if self._tuples == 1:
            return np.zeros(len(released.k))
        tuples = float(self._tuples)
        mean = (released.ambiguity + released.suppressed * tuples) / self._rows
        return np.asarray(np.clip(np.log2(mean) / np.log2(tuples), 0, 1))


def none_of(schemes: int) -> Floats:
    """The columns of FURTHER where none is asked for."""
    return np.full((schemes, len(FURTHER)), np.nan)


def _wholes(name: LossName, histogram: Histogram) -> list[int]:
    """What a cell costs that tells nothing, by column."""
    if name is LossName.PRECISION:
        return [column.height for column in histogram.space.columns]
    return [entropy_of_column(rows) for rows in histogram.marginals]


def _tuples(histogram: Histogram) -> int:
    """Π_j |Σ_j|: how many different tuples there can be."""
    return math.prod(column.size for column in histogram.space.columns)


class _Levels:
    """The privacy levels of the released rows: level x has r rows, ascending, by scheme.

    Numbers up to rows² are whole and exact; only sums of rows³ are not. All terms of these are
    positive, and 0 where all levels are the same.
    """

    def __init__(self, measured: Measurements, suppression: Rule) -> None:
        released = np.where(suppression.mask(measured), 0, measured.rows)
        self._scheme = np.repeat(np.arange(len(measured)), np.diff(measured.offsets))
        order = np.lexsort((measured.size, self._scheme))  # bad classes stood first
        self._starts = measured.offsets[:-1]
        self._x, self._r = measured.size[order], released[order]
        self._rows = np.add.reduceat(self._r, self._starts)
        self._total = np.add.reduceat(self._r * self._x, self._starts)

    def gini(self) -> Floats:
        """Every gap between two levels is a difference of all rows below it from all above it."""
        sums = np.concatenate([[0], np.cumsum(self._r)])
        up_to = sums[1:] - sums[self._starts][self._scheme]
        above = self._rows[self._scheme] - up_to
        gap = np.abs(np.diff(self._x, append=0))  # at a last level, above which nothing is, any
        differences = np.add.reduceat(gap.astype(np.float64) * (up_to * above), self._starts)
        return self._share(differences, self._rows * self._total.astype(np.float64))

    def variation(self) -> Floats:
        deviation = self._x * self._rows[self._scheme] - self._total[self._scheme]
        squares = np.add.reduceat(self._r * deviation.astype(np.float64) ** 2, self._starts)
        cv = self._share(np.sqrt(self._share(squares, self._rows)), self._total)
        return np.asarray(cv / (1 + cv))

    def minimum(self, k: Ints) -> Floats:
        larger = np.where(self._x > k[self._scheme], self._r, 0)
        return self._share(np.add.reduceat(larger, self._starts), self._rows)

    @staticmethod
    def _share(part: Floats | Ints, whole: Floats | Ints) -> Floats:
        """part / whole; where nothing is released, both are 0 and so is the share."""
        return np.asarray(part / np.maximum(whole, 1))
