"""What is left of each scheme's classes once its suppressed rows are gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sqlanon.measurement import Ints, Measurements
from sqlanon.privacy.suppression import UNBOUNDED, Suppression


@dataclass(frozen=True)
class Released:
    """One entry a scheme. A scheme that leaves no row has k = 0 and no class.

    loss          Σ over released rows of (atoms in the row's group − 1), by column
    suppressed    rows left out
    rows_below    rows in classes smaller than the rule's k, left out or not; only grows when a
                  scheme is specialized. 0 where the rule has no k
    rows_squared  Σ over released classes of rows²
    minority      released rows not of their class's majority label, or None
    """

    k: Ints
    k_max: Ints
    classes: Ints
    suppressed: Ints
    rows_below: Ints
    loss: Ints
    rows_squared: Ints
    minority: Ints | None


def release(measured: Measurements, suppression: Suppression) -> Released:
    """Applies a suppression rule to measurements that were made in enough detail for it."""
    out = suppression.mask(measured)
    starts, ends = measured.offsets[:-1], measured.offsets[1:]
    sizes_out = _sums(out.astype(np.int64), measured.offsets)
    first = np.minimum(starts + sizes_out, ends - 1)
    any_left = starts + sizes_out < ends
    loss = measured.loss
    if suppression.budget:
        loss = loss - _small_loss(measured, sizes_out)
    minority = None
    if measured.minority is not None:
        minority = _sums(np.where(out, 0, measured.minority), measured.offsets)
    return Released(
        k=np.where(any_left, measured.size[first], 0),
        k_max=np.where(any_left, measured.size[ends - 1], 0),
        classes=_sums(np.where(out, 0, measured.classes), measured.offsets),
        suppressed=_sums(np.where(out, measured.rows, 0), measured.offsets),
        rows_below=_sums(
            np.where(_below_k(measured, suppression), measured.rows, 0), measured.offsets
        ),
        loss=loss,
        rows_squared=_sums(np.where(out, 0, measured.rows_squared), measured.offsets),
        minority=minority,
    )


def _below_k(measured: Measurements, suppression: Suppression) -> npt.NDArray[np.bool_]:
    if suppression.below == UNBOUNDED:
        return np.zeros(len(measured.size), dtype=bool)
    return np.asarray(measured.size < suppression.below)


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
