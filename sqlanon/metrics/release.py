"""What is left of each scheme's classes once its suppressed rows are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlanon.measurement import Floats, Ints, Measurements
from sqlanon.privacy import Model
from sqlanon.suppression import UNBOUNDED, Rule


@dataclass(frozen=True)
class Released:
    """One entry a scheme. A scheme that leaves no row has k = 0 and no class.

    loss          Σ over released rows of (atoms in the row's group − 1), by column
    suppressed    rows left out
    rows_below    rows in classes smaller than the rule's k, left out or not; only grows when a
                  scheme is specialized. 0 where the rule has no k
    rows_squared  Σ over released classes of rows²
    minority      released rows not of their class's majority label, or None
    k_most        the k that is left if only the smallest classes are left out, as far as the
                  budget goes
    violating     rows in classes that violate the rule's k or a model, left out or not
    reached       what the worst released class reaches, one column a model
    priced        as loss, at the further prices that were measured: scheme, price, column
    ambiguity     Σ over released rows of the tuples that they may come from, or None
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
    priced: Ints
    ambiguity: Floats | None


def release(
    measured: Measurements, suppression: Rule, columns: int, models: Sequence[Model] = ()
) -> Released:
    """Applies a suppression rule to measurements that were made in enough detail for it.

    `models` are those that the measurements were made for, of so many `columns`.
    """
    out = suppression.mask(measured)
    starts = measured.offsets[:-1]
    sizes_out = _sums(out.astype(np.int64), measured.offsets)
    any_left = starts + sizes_out < measured.offsets[1:]
    below = suppression.is_below(measured)
    loss = measured.loss
    if suppression.budget:
        loss = loss - _small_loss(measured, sizes_out)
    minority = None
    if measured.minority is not None:
        minority = _sums(np.where(out, 0, measured.minority), measured.offsets)
    ambiguity = None
    if measured.ambiguity is not None:
        ambiguity = np.add.reduceat(np.where(out, 0, measured.ambiguity), starts)
    return Released(
        k=np.where(
            any_left, np.minimum.reduceat(np.where(out, UNBOUNDED, measured.size), starts), 0
        ),
        k_max=np.maximum.reduceat(np.where(out, 0, measured.size), starts),
        classes=_sums(np.where(out, 0, measured.classes), measured.offsets),
        suppressed=_sums(np.where(out, measured.rows, 0), measured.offsets),
        rows_below=_sums(np.where(below, measured.rows, 0), measured.offsets),
        loss=loss[:, :columns],
        rows_squared=_sums(np.where(out, 0, measured.rows_squared), measured.offsets),
        minority=minority,
        violating=_sums(np.where(below | (measured.bad > 0), measured.rows, 0), measured.offsets),
        reached=_worst(measured, out, models),
        k_most=_most_k(measured, suppression.budget) if models else _none_left(measured),
        priced=loss[:, columns:].reshape(len(loss), -1, columns),
        ambiguity=ambiguity,
    )


def _most_k(measured: Measurements, budget: int) -> Ints:
    """The smallest size s for which more rows than the budget lie in classes of at most s.

    UNBOUNDED where the budget takes everything.
    """
    scheme = np.repeat(np.arange(len(measured)), np.diff(measured.offsets))
    order = np.lexsort((measured.size, scheme))
    rows, starts = measured.rows[order], measured.offsets[:-1]
    before = np.concatenate([[0], np.cumsum(rows)])
    up_to = before[1:] - before[starts][scheme]
    stays = np.where(up_to > budget, measured.size[order], UNBOUNDED)
    return np.asarray(np.minimum.reduceat(stays, starts))


def _none_left(measured: Measurements) -> Ints:
    return np.full(len(measured), UNBOUNDED, dtype=np.int64)


def _worst(measured: Measurements, out: npt.NDArray[np.bool_], models: Sequence[Model]) -> Floats:
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
