"""Suppression: leaving out the rows of some classes instead of generalizing more.

Two rules, both of whole class sizes, smallest first, and both bounded by a number of rows:
given k, classes smaller than k are left out (Bayardo & Agrawal, ICDE 2005; used by the
GENITOR paper); with no k given, as many sizes as the bound allows (POkA's limit η), and k is
the smallest size left. Sizes are people, the bound is rows.

Where models beyond k are required, a class that violates one is bad, and so is, given k, one
smaller than k. Bad classes are left out before others, the smallest sizes first.

`Remaining` is what a rule leaves of the classes: every score follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Column
from sqlanon.errors import EvaluationError
from sqlanon.metrics.measurement import Detail, Floats, Ints, Measurements
from sqlanon.privacy import Model
from sqlanon.wording import counted

Mask = npt.NDArray[np.bool_]

UNBOUNDED = 2**62
"""`below` of a rule without k."""


@dataclass(frozen=True)
class Suppression:
    """Leave out classes smaller than `below`, smallest sizes first, at most `budget` rows."""

    below: int = UNBOUNDED
    budget: int = 0

    @classmethod
    def given_k(cls, k: int, limit: float | Decimal, rows: int) -> Suppression:
        """At most the share `limit` of all rows, classes smaller than k only."""
        return cls(below=k, budget=_share(limit, rows))

    @classmethod
    def up_to(cls, limit: float | Decimal, rows: int) -> Suppression:
        """POkA's rule: η = the share `limit` of all rows, no k given."""
        return cls(budget=_share(limit, rows))

    @property
    def detail(self) -> Detail:
        """The classes a measurement must know one by one for this rule."""
        return Detail(self.below, self.budget) if self.budget else Detail()

    def check(self, rows: int) -> None:
        """Refuses a rule that could leave out the whole table without a k to stop it."""
        if self.below == UNBOUNDED and self.budget >= rows:
            raise EvaluationError(
                f"the suppression limit of {counted(self.budget, 'row')} does not leave any of the "
                f"{counted(rows, 'row')}; choose a smaller limit"
            )

    def is_below(self, measured: Measurements) -> Mask:
        """Which entries are of classes smaller than k; none where the rule has no k."""
        if self.below == UNBOUNDED:
            return np.zeros(len(measured.size), dtype=bool)
        return np.asarray(measured.size < self.below)

    def mask(self, measured: Measurements) -> Mask:
        """Which entries of the measurements, a scheme and class size each, are left out."""
        may = (measured.bad > 0) | (measured.size < self.below)
        return np.asarray(may & (_up_to(measured) <= self.budget))


@dataclass(frozen=True)
class EachForItsK:
    """As `Suppression`, with a k for every scheme; where models are required, it has no meaning."""

    below: Ints
    budget: int

    def is_below(self, measured: Measurements) -> Mask:
        """Which entries are of classes smaller than the scheme's k."""
        return np.asarray(measured.size < self.below[measured.scheme])

    def mask(self, measured: Measurements) -> Mask:
        """Which entries of the measurements, a scheme and class size each, are left out."""
        return np.asarray(self.is_below(measured) & (_up_to(measured) <= self.budget))


Rule = Suppression | EachForItsK


def reachable(measured: Measurements, budget: int) -> tuple[Ints, Ints]:
    """Every k that a scheme reaches by leaving out at most so many rows: (scheme, k) pairs.

    The smaller classes are then left out whole, the smallest first, so a scheme reaches each of
    its class sizes until the budget is used up.
    """
    fits = np.flatnonzero(_up_to(measured) - measured.rows <= budget)
    return measured.scheme[fits], measured.size[fits]


def _up_to(measured: Measurements) -> Ints:
    """The rows of a scheme's entries up to each of them, that one included."""
    before = np.concatenate([[0], np.cumsum(measured.rows)])
    return np.asarray(before[1:] - before[measured.offsets[measured.scheme]])


def _share(limit: float | Decimal, rows: int) -> int:
    """floor(limit · rows), of the decimal number that was written."""
    share = Decimal(str(limit))
    if not 0 <= share <= 1:
        raise EvaluationError(f"the suppression limit {limit} is not between 0 and 1")
    return int(share * rows)


@dataclass(frozen=True)
class Levels:
    """The privacy levels of the remaining rows: at level `size` there are `at` rows, ascending.

    `scheme` has the scheme of every level, `starts` the first level of every scheme, `rows` all
    rows of a scheme and `total` the Σ of their levels. Numbers up to rows² are whole and exact;
    only sums of rows³ are not. All terms of these are positive, and 0 where all levels are equal.
    """

    size: Ints
    at: Ints
    scheme: Ints
    starts: Ints
    rows: Ints
    total: Ints


@dataclass(frozen=True)
class Remaining:
    """What suppression leaves, one entry per scheme. A scheme without a row has k = 0, no class.

    loss          Σ over remaining rows of (atoms in the row's group − 1), by column
    suppressed    rows left out
    rows_below    rows in classes smaller than the rule's k, left out or not; only grows when a
                  scheme is specialized. 0 where the rule has no k
    rows_squared  Σ over remaining classes of rows²
    minority      remaining rows not of their class's majority label, or None
    k_most        the k that is left if only the smallest classes are left out, as far as the
                  budget goes
    violating     rows in classes that violate the rule's k or a model, left out or not
    reached       what the worst remaining class reaches, one column per model
    costs         as loss, of the costs that metrics asked for, by their keys
    ambiguity     Σ over remaining rows of the tuples that they may come from, or None
    """

    k: Ints
    k_max: Ints
    classes: Ints
    suppressed: Ints
    rows_below: Ints
    loss: Ints
    rows_squared: Ints
    minority: Ints | None
    violating: Ints
    reached: Floats
    k_most: Ints
    costs: Mapping[str, Ints]
    ambiguity: Floats | None
    columns: tuple[Column, ...]
    measured: Measurements
    out: Mask

    @cached_property
    def penalties(self) -> Floats:
        """Σ over remaining rows of (|g|−1)/(|Σ_j|−1), by column; 0 for a column of one atom."""
        return self.loss / np.array([max(c.size - 1, 1) for c in self.columns], dtype=np.float64)

    @cached_property
    def levels(self) -> Levels:
        """The class sizes that remaining rows have."""
        measured, scheme = self.measured, self.measured.scheme
        order = np.lexsort((measured.size, scheme))  # bad classes stood first
        size, at = measured.size[order], np.where(self.out, 0, measured.rows)[order]
        rows, total = _sums(at, measured.offsets), _sums(at * size, measured.offsets)
        return Levels(size, at, scheme, measured.offsets[:-1], rows, total)


def remaining(
    measured: Measurements,
    rule: Rule,
    columns: tuple[Column, ...],
    models: Sequence[Model] = (),
    costs: Sequence[str] = (),
) -> Remaining:
    """Applies a suppression rule to measurements that were made in enough detail for it.

    They were made for these models, and for the costs of the metrics with these keys.
    """
    out = rule.mask(measured)
    starts = measured.offsets[:-1]
    sizes_out = _sums(out.astype(np.int64), measured.offsets)
    any_left = starts + sizes_out < measured.offsets[1:]
    below = rule.is_below(measured)
    loss = measured.loss
    if rule.budget:
        loss = loss - _small_loss(measured, sizes_out)
    minority = None
    if measured.minority is not None:
        minority = _sums(np.where(out, 0, measured.minority), measured.offsets)
    ambiguity = None
    if measured.ambiguity is not None:
        ambiguity = np.add.reduceat(np.where(out, 0, measured.ambiguity), starts)
    size = np.where(out, UNBOUNDED, measured.size)
    width = len(columns)
    return Remaining(
        k=np.where(any_left, np.minimum.reduceat(size, starts), 0),
        k_max=np.maximum.reduceat(np.where(out, 0, measured.size), starts),
        classes=_sums(np.where(out, 0, measured.classes), measured.offsets),
        suppressed=_sums(np.where(out, measured.rows, 0), measured.offsets),
        rows_below=_sums(np.where(below, measured.rows, 0), measured.offsets),
        loss=loss[:, :width],
        rows_squared=_sums(np.where(out, 0, measured.rows_squared), measured.offsets),
        minority=minority,
        violating=_sums(np.where(below | (measured.bad > 0), measured.rows, 0), measured.offsets),
        reached=_worst(measured, out, models),
        k_most=_most_k(measured, rule.budget) if models else np.full(len(measured), UNBOUNDED),
        costs={key: loss[:, i * width : (i + 1) * width] for i, key in enumerate(costs, start=1)},
        ambiguity=ambiguity,
        columns=columns,
        measured=measured,
        out=out,
    )


def share(part: Floats | Ints, whole: Floats | Ints) -> Floats:
    """part / whole; where nothing is released, both are 0 and so is the share."""
    return np.asarray(part / np.maximum(whole, 1))


def _most_k(measured: Measurements, budget: int) -> Ints:
    """The smallest size s for which more rows than the budget lie in classes of at most s.

    UNBOUNDED where the budget takes everything.
    """
    scheme, starts = measured.scheme, measured.offsets[:-1]
    order = np.lexsort((measured.size, scheme))
    before = np.concatenate([[0], np.cumsum(measured.rows[order])])
    up_to = before[1:] - before[starts][scheme]
    stays = np.where(up_to > budget, measured.size[order], UNBOUNDED)
    return np.asarray(np.minimum.reduceat(stays, starts))


def _worst(measured: Measurements, out: Mask, models: Sequence[Model]) -> Floats:
    """What the worst class left reaches of each model; without a class, the worst there is."""
    reached = np.zeros((len(measured), len(models)))
    for i, model in enumerate(models):
        best = np.inf if model.at_least else -np.inf
        worse = np.minimum if model.at_least else np.maximum
        values = worse.reduceat(np.where(out, best, measured.reached[:, i]), measured.offsets[:-1])
        reached[:, i] = np.where(values == best, model.worst(), values)
    return reached


def _sums(values: Ints, offsets: Ints) -> Ints:
    """The sum of each scheme's entries; every scheme has at least one."""
    return np.add.reduceat(values, offsets[:-1])


def _small_loss(measured: Measurements, sizes_out: Ints) -> Ints:
    """The loss of the rows in the first `sizes_out` class sizes, by column."""
    before = np.zeros((len(measured.small_loss) + 1, measured.loss.shape[1]), dtype=np.int64)
    np.cumsum(measured.small_loss, axis=0, out=before[1:])
    starts = measured.small_offsets[:-1]
    small: Ints = before[starts + sizes_out] - before[starts]
    return small
