"""The scores of schemes, from raw integers. k, class sizes and NECD count people, losses rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sqlanon.domain import Histogram
from sqlanon.metrics.measurement import DIGITS, Floats, Ints, Measurements
from sqlanon.metrics.metric import METRICS, Metric, further
from sqlanon.metrics.suppression import Rule, remaining
from sqlanon.privacy import Model
from sqlanon.wording import counted

INTERNAL = ("glm_units", "rows_below", "violating", "reached", "k_most", "further")
"""Scores that searches need and that reports do not show under these names."""


@dataclass(frozen=True, repr=False)
class Scores:
    """One entry per scheme in every array; `ce` is NaN where no label was counted.

    `glm_units` is GLM in whole units, exact, for searches that decide by ties; `rows_below`
    the rows in classes smaller than k, suppressed or not, and `violating` those in classes that
    violate k or a model. `reached` has a column for every model: what the worst class reaches.
    `k_most` bounds k from above where models are required, also of all that refine a scheme.
    `further` has a column for each of further(), NaN where it was not asked for.
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

    @classmethod
    def empty(cls, models: int) -> Scores:
        """The scores of no scheme, where so many models are required."""
        none: dict[str, Any] = {
            each.name: np.zeros(0, dtype=np.int64 if each.type == "Ints" else np.float64)
            for each in fields(cls)
        }
        wide = {"reached": np.zeros((0, models)), "further": np.zeros((0, len(further())))}
        return cls(**(none | wide))

    def row(self, i: int) -> dict[str, int | float | None]:
        """One scheme's scores by name, as plain numbers; None without a label.

        Of the metrics in `further` those that were asked for.
        """
        shown = [f.name for f in fields(self) if f.name not in INTERNAL]
        named = {name: getattr(self, name)[i].item() for name in shown}
        found = {name: None if value != value else value for name, value in named.items()}
        asked = zip(further(), self.further[i].tolist(), strict=True)
        return found | {name: value for name, value in asked if value == value}


def score(
    measured: Measurements,
    histogram: Histogram,
    rule: Rule,
    models: Sequence[Model] = (),
    asked: Sequence[Metric] = (),
) -> Scores:
    """All scores of the measured schemes under a suppression rule.

    They were measured for the models, and for the further metrics that are asked for.
    """
    costs = [metric.key for metric in asked if metric.cost is not None]
    left = remaining(measured, rule, histogram.space.columns, models, costs)
    found: dict[str, Any] = {}
    for metric in METRICS.values():
        if metric.always:
            found |= metric(histogram).fields(left)
    keys = further()
    of_asked = np.full((len(measured), len(keys)), np.nan)
    for each in asked:
        of_asked[:, keys.index(each.key)] = each.of(left).round(DIGITS)
    return Scores(
        k=left.k,
        k_max=left.k_max,
        classes=left.classes,
        suppressed=left.suppressed,
        rows_below=left.rows_below,
        violating=left.violating,
        reached=left.reached,
        k_most=left.k_most,
        further=of_asked,
        **found,
    )


def scaled(key: str, scores: Scores, rows: int) -> Floats:
    """A metric of every scheme, scaled to [0, 1] with ideal 0; `rows` are those of the source.

    NaN where it was not asked for, or has no label to go by.
    """
    return METRICS[key].scaled(scores, rows)
