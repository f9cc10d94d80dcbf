"""The scores of the four papers, from raw integers; further.py has those of others.

N is the number of rows, s the suppressed ones, |Σ_j| the atoms of column j, |g| those of a
row's group. k, class sizes and NECD speak of people, losses of rows.

    NWP   Σ_rows Σ_j w_j (|g|−1)/(|Σ_j|−1) / N, a suppressed row counts 1     (Dewri et al. 2009)
    NECD  (largest class − smallest class) / (people − 1)                   (Dewri et al. 2009)
    GLM   Σ_rows Σ_j (|g|−1)/(|Σ_j|−1), a suppressed row counts 1 a column       (Iyengar 2002)
    DCN   Σ_classes rows² + N·s                                       (Bayardo & Agrawal 2005)
    CE    (s + rows that are not of their class's majority label) / N            (Iyengar 2002)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from sqlanon.histogram import Histogram
from sqlanon.measurement import Floats, Ints, Measurements
from sqlanon.metrics.further import FURTHER, FurtherMeasures, none_of
from sqlanon.metrics.release import Released, release
from sqlanon.model import counted
from sqlanon.privacy import Model
from sqlanon.scheme import Column
from sqlanon.suppression import Rule

DIGITS = 12
"""Shares are rounded to so many digits behind the point, so that equal ones are equal: their last
digits depend on how the weights are written and on the order of a sum."""
INTERNAL = ("glm_units", "rows_below", "violating", "reached", "k_most", "further")
"""What searches need and nobody reads, at least not under this name."""


@dataclass(frozen=True, repr=False)
class Scores:
    """One entry a scheme in every array; `ce` is NaN where no label was counted.

    `glm_units` is GLM in whole units, exact, for searches that decide by ties; `rows_below`
    the rows in classes smaller than k, suppressed or not, and `violating` those in classes that
    violate k or a model. `reached` has a column for every model: what the worst class reaches.
    `k_most` bounds k from above where models are required, also of all that refine a scheme.
    `further` has a column for each of FURTHER, NaN where it was not asked for.
    """

    k: Ints
    k_max: Ints
    classes: Ints
    suppressed: Ints
    nwp: Floats
    necd: Floats
    glm: Floats
    glm_share: Floats
    dcn: Ints
    ce: Floats
    glm_units: Ints
    rows_below: Ints
    violating: Ints
    reached: Floats
    k_most: Ints
    further: Floats

    def __repr__(self) -> str:
        return f"<Scores of {counted(len(self.k), 'scheme')}>"

    def __len__(self) -> int:
        return len(self.k)

    def row(self, i: int) -> dict[str, int | float | None]:
        """One scheme's scores by name, as plain numbers; None where there is none.

        Of the further measures those that were asked for.
        """
        shown = [f.name for f in fields(self) if f.name not in INTERNAL]
        named = {name: getattr(self, name)[i].item() for name in shown}
        found = {name: None if value != value else value for name, value in named.items()}
        further = zip(FURTHER, self.further[i].tolist(), strict=True)
        return found | {name.value: value for name, value in further if value == value}


def score(
    measured: Measurements,
    histogram: Histogram,
    suppression: Rule,
    models: Sequence[Model] = (),
    further: FurtherMeasures | None = None,
) -> Scores:
    """All scores of the measured schemes under a suppression rule.

    They were measured for the models, and for the further measures that are asked for.
    """
    columns = histogram.space.columns
    released = release(measured, suppression, len(columns), models)
    glm = glm_of(released, columns)
    return Scores(
        k=released.k,
        k_max=released.k_max,
        classes=released.classes,
        suppressed=released.suppressed,
        nwp=nwp_of(released, columns, histogram.rows).round(DIGITS),
        necd=necd_of(released, histogram.people),
        glm=glm,
        glm_share=(glm / (histogram.rows * len(columns))).round(DIGITS),
        dcn=dcn_of(released, histogram.rows),
        ce=ce_of(released, histogram.rows),
        glm_units=glm_units_of(released, columns),
        rows_below=released.rows_below,
        violating=released.violating,
        reached=released.reached,
        k_most=released.k_most,
        further=(
            further.of(measured, released, suppression).round(DIGITS)
            if further
            else none_of(len(measured))
        ),
    )


def nwp_of(released: Released, columns: tuple[Column, ...], rows: int) -> Floats:
    """Normalized weighted penalty."""
    whole = sum(c.weight for c in columns)
    total = released.suppressed.astype(np.float64)
    # Column by column: a matrix product may round a scheme differently in another batch.
    for column, penalty in zip(columns, _penalties(released, columns).T, strict=True):
        total += penalty * (column.weight / whole)
    return total / rows


def glm_of(released: Released, columns: tuple[Column, ...]) -> Floats:
    """General loss metric."""
    total = released.suppressed * float(len(columns))
    for penalty in _penalties(released, columns).T:
        total += penalty
    return np.asarray(total)


def glm_units_of(released: Released, columns: tuple[Column, ...]) -> Ints:
    """GLM times the least common multiple of all |Σ_j| − 1: a whole number."""
    steps = [max(c.size - 1, 1) for c in columns]
    unit = math.lcm(*steps)
    factors = [unit // step for step in steps]
    loss, suppressed = released.loss, released.suppressed
    largest = int(loss.max(initial=0)) + int(suppressed.max(initial=0))
    if largest * unit * len(columns) >= 2**62:
        loss, suppressed = loss.astype(object), suppressed.astype(object)
    return np.asarray(loss @ np.array(factors, dtype=loss.dtype) + suppressed * unit * len(columns))


def _penalties(released: Released, columns: tuple[Column, ...]) -> Floats:
    """Σ over released rows of (|g|−1)/(|Σ_j|−1), by column; 0 for a column of one atom."""
    steps = np.array([max(c.size - 1, 1) for c in columns], dtype=np.float64)
    return released.loss / steps


def necd_of(released: Released, people: int) -> Floats:
    """Normalized equivalence class dispersion; 0 for a table of one person."""
    return (released.k_max - released.k) / max(people - 1, 1)


def dcn_of(released: Released, rows: int) -> Ints:
    """Discernibility."""
    return released.rows_squared + rows * released.suppressed


def ce_of(released: Released, rows: int) -> Floats:
    """Classification error."""
    if released.minority is None:
        return np.full(len(released.k), np.nan)
    return (released.suppressed + released.minority) / rows
