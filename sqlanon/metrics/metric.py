"""What a measure of information loss or bias declares, and the registry of all measures.

A measure is one file: a class that says what it is, what it needs measured and how it follows
from the raw integers, and one line in `metrics/__init__.py` that registers it. Everything else
iterates the registry: the policy's keys, the costs of groups, scores, tables, and the recount of
a release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import sqlglot
from sqlglot import exp

from sqlanon.domain import Column, Histogram
from sqlanon.metrics.group_costs import GroupCost
from sqlanon.metrics.measurement import Floats, Ints
from sqlanon.render import NATIVE

if TYPE_CHECKING:
    from sqlanon.metrics.scores import Scores
    from sqlanon.metrics.suppression import Remaining

Numbers = npt.NDArray[Any]
M = TypeVar("M", bound="type[Metric]")

SLACK = 1e-11
"""How far rounding may put a score below a bound of it that is computed in another order."""


@dataclass(frozen=True)
class ReleaseCounts:
    """What the rows of a release and of its source say, counted without the search.

    losses        per quasi-identifier the mean of (|g|−1)/(|Σ|−1) over the rows of the source,
                  1 for suppressed ones; `weights` are those of the columns
    smallest      people in the smallest class, and in the `largest`
    rows_squared  Σ over classes of rows²
    of_majority   rows with the most frequent label of their class; None without a label
    """

    source_rows: int
    source_people: int
    suppressed: int
    losses: Mapping[str, float]
    weights: Mapping[str, float]
    smallest: int
    largest: int
    rows_squared: int
    of_majority: int | None


class Metric(ABC):
    """A measure of the schemes of one histogram: ideally 0, and at most 1 once it is scaled.

    key            its name in policies, results and scores
    kind           what a preference may take it for
    title          its name in tables
    meaning        what it says, as a phrase
    citation       where it comes from
    always         every scheme is scored by it, in a field of `Scores` of this name; others are
                   measured where they are asked for
    cost           what every group of a column costs, summed over rows for each scheme; None
                   where it needs no cost, or that of NWP, which is always summed
    needs_label    counts the label column
    needs_tuples   looks at every class, for the tuples that its rows may come from
    full_price     a suppressed row costs at least 1/N on the scale from 0 to 1, whatever else a
                   scheme does; lattice searches prune by that
    by_splits      Σ rows² of a class that splits into m parts falls to 1/m of it at most, and so
                   does the loss; lattice searches prune by that too

    In SQL a measure is written by three more, of which the first is for sql/measure.sql and the
    others are for sql/workspace/evaluation.sql:

    measure_sums           sums over the released classes, by name: SQL over the columns `n_rows`,
                           `people` and, with a label, `minority` of a class
    evaluation_sql         the score over the columns of `remaining`; None for one that follows
                           from its cost alone
    scaled_evaluation_sql  the same on the scale from 0 to 1, over the columns of scores; None
                           where the score has that scale
    """

    key: ClassVar[str]
    kind: ClassVar[Literal["loss", "bias"]]
    title: ClassVar[str]
    meaning: ClassVar[str]
    citation: ClassVar[str]
    always: ClassVar[bool] = False
    cost: ClassVar[type[GroupCost] | None] = None
    needs_label: ClassVar[bool] = False
    needs_tuples: ClassVar[bool] = False
    full_price: ClassVar[bool] = False
    by_splits: ClassVar[bool] = False
    measure_sums: ClassVar[Mapping[str, str]] = {}
    evaluation_sql: ClassVar[str | None] = None
    scaled_evaluation_sql: ClassVar[str | None] = None

    def __init__(self, histogram: Histogram) -> None:
        self.histogram = histogram

    @property
    def is_measurable(self) -> bool:
        """Whether numbers can hold it for this histogram."""
        return True

    @abstractmethod
    def of(self, left: Remaining) -> Numbers:
        """The score of every scheme, from what suppression leaves of its classes."""

    def fields(self, left: Remaining) -> dict[str, Numbers]:
        """The scores of every scheme by name: one, except where a search needs it otherwise too."""
        return {self.key: self.of(left)}

    @cached_property
    def wholes(self) -> list[int]:
        """By column what it costs to release nothing of a cell."""
        return [column.size - 1 for column in self.histogram.space.columns]

    def share_of_cost(self, left: Remaining) -> Floats:
        """The mean cost of a cell, as a share of what it costs to release nothing of it."""
        wholes = self.wholes
        total = left.suppressed * float(len(wholes))
        # Column by column: a matrix product may round a scheme differently in another batch.
        for cost, whole in zip(left.costs[self.key].T, wholes, strict=True):
            total += cost / max(whole, 1)
        return np.asarray(total / (self.histogram.rows * len(wholes)))

    @classmethod
    def evaluation_columns(cls) -> dict[str, str]:
        """The scores by name, as expressions over `remaining`."""
        cost = f"penalties[list_position(costs, '{cls.key}')]"
        share = f"(suppressed * width + {cost}) / (source_rows * width)"
        return {cls.key: cls.evaluation_sql or share}

    @classmethod
    def described(cls) -> dict[str, str]:
        """The scores that a solution shows, each with its meaning."""
        return {cls.key: f"{cls.meaning}, 0 to 1"}

    @classmethod
    def shown(cls, scores: Scores) -> Numbers:
        """The score as reports show it."""
        if cls.always:
            return np.asarray(getattr(scores, cls.key))
        return np.asarray(scores.further[:, further().index(cls.key)])

    @classmethod
    def scaled(cls, scores: Scores, rows: int) -> Floats:
        """The score on the scale from 0 to 1; `rows` are those of the source.

        NaN where it was not asked for, or has no label to go by.
        """
        return cls.shown(scores)

    @classmethod
    def exact(cls, scores: Scores, rows: int) -> Numbers:
        """The score in numbers that can be compared for equality."""
        return cls.shown(scores)

    @classmethod
    def row_price(cls, columns: Sequence[Column], rows: int) -> int | float:
        """What a suppressed row costs at least, in the numbers of `exact`; 0 where unknown."""
        return (1 - SLACK) / rows if cls.full_price else 0

    @classmethod
    def kept(cls, exact: Numbers, suppressed: Ints, rows: int) -> Numbers | None:
        """What the kept rows would lose if nothing were suppressed, at least.

        None where merging classes may lower that: then it bounds no other scheme.
        """
        return None

    @classmethod
    def column_prices(cls, losses: Ints, columns: Sequence[Column], rows: int) -> list[Numbers]:
        """Bounds of the loss from below that add up over the columns, in the numbers of `exact`.

        `losses` are Σ over rows of (atoms in the row's group − 1), one column per column. Empty
        for a loss that is no sum over columns.
        """
        return []

    @classmethod
    def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
        """Its cells of sql/measure.sql by their names; none where that does not measure it.

        They read the `measure_sums`, and `k`, `k_max`, `classes`, `suppressed`, `source_rows` and
        `source_people`. `shares` are the columns with Σ over released rows of (|g|−1)/(|Σ|−1).
        """
        return {}

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        """The scores that follow from a release; none where they do not."""
        return {}


@cache
def formula(text: str) -> exp.Expr:
    """A cell of sql/measure.sql that is the same for all schemes; none divides whole numbers."""
    parsed = sqlglot.parse_one(text, read=NATIVE)
    for each in parsed.find_all(exp.Div):
        each.set("typed", True)
    return parsed


def divided(part: exp.Expr, by: exp.Expr) -> exp.Expr:
    """part / by, of which one is no whole number."""
    return exp.Div(this=part, expression=by, typed=True)


def added(terms: Iterable[exp.Expr]) -> exp.Expr:
    """The sum of terms."""
    return reduce(lambda a, b: exp.Add(this=a, expression=b), (term.copy() for term in terms))


METRICS: dict[str, type[Metric]] = {}
"""Every measure by its key: losses, then biases."""


def register(metric: M) -> M:
    """Adds a measure to the registry."""
    METRICS[metric.key] = metric
    return metric


def losses() -> list[str]:
    """The keys of the measures of information loss."""
    return [key for key, metric in METRICS.items() if metric.kind == "loss"]


def biases() -> list[str]:
    """The keys of the measures of bias."""
    return [key for key, metric in METRICS.items() if metric.kind == "bias"]


def further() -> list[str]:
    """The keys of what is measured where it is asked for: the columns of `Scores.further`."""
    return [key for key, metric in METRICS.items() if not metric.always]


def recounted(counts: ReleaseCounts) -> dict[str, int | float]:
    """Every score that follows from what was counted in a release."""
    return {key: s for metric in METRICS.values() for key, s in metric.recounted(counts).items()}


def asked_of(histogram: Histogram, asked: Collection[str]) -> list[Metric]:
    """Those of `further` that are asked for and can be measured, in the order of the registry."""
    wanted = [METRICS[key](histogram) for key in further() if key in asked]
    return [metric for metric in wanted if metric.is_measurable]
