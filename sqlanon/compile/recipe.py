"""What a release is made of, before any SQL is written."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from sqlanon.domain import IntervalDomain
from sqlanon.errors import CompileError
from sqlanon.hierarchy import Hierarchy
from sqlanon.hierarchy.tree import Span
from sqlanon.model import Form, Kind, Order, Output, Unseen, Value
from sqlanon.privacy import Measure, Model
from sqlanon.scheme import Column, Partition, group_labels, group_spans
from sqlanon.scheme.labels import WHOLE

_WITH_ZONE = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")
_NANOSECONDS = dt.datetime(1677, 9, 22), dt.datetime(2262, 4, 11)
"""The first and the last midnight that a TIMESTAMP_NS can hold."""


@dataclass(frozen=True)
class Generalized:
    """A quasi-identifier, released by the groups of its partition.

    type        the source's own name of the column's type
    open_ends   whether the outermost intervals are written "<20" and "85+"; numbers in place of
                labels cannot say that, so they keep the ends of the range
    null_label  what stands for NULL where it is a group of its own; None leaves it NULL
    """

    column: Column
    partition: Partition
    type: str
    output: Output = Output.LABEL
    open_ends: bool = False
    null_label: str | None = None
    form: Form = Form.AUTO

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def released_names(self) -> tuple[str, ...]:
        if self.output is Output.BOUNDS:
            return (f"{self.name}_low", f"{self.name}_high")
        return (self.name,)

    @property
    def is_open(self) -> bool:
        """Whether the outermost groups take what lies beyond them."""
        return self.open_ends and self.output is Output.LABEL

    @property
    def by_intervals(self) -> bool:
        """Whether a group takes whatever lies between its ends.

        A node of a hierarchy has a name, and what that is true of only its leaves tell, unless
        it has `spans`: the first birthday of the forties that occurs is not where they begin.
        """
        domain = self.column.domain
        return isinstance(domain, IntervalDomain) or (
            domain.is_sorted and self.column.hierarchy is None
        )

    @cached_property
    def spans(self) -> tuple[Span | None, ...] | None:
        """What the groups of values take, where their names tell it: a decade its ten years.

        None for a group that is one value; and None at all where groups go by their values. So
        do they in a column with a time zone, and where an end is no value of the column's type.
        """
        type_ = self.type.upper()
        if self.output is not Output.LABEL or type_ in _WITH_ZONE:
            return None
        spans = group_spans(self.column, self.partition)
        if type_ == "TIMESTAMP_NS" and spans is not None:
            ends = [end for span in spans if span is not None for end in span]
            if not all(end is None or _is_in_nanoseconds(end) for end in ends):
                return None
        return spans

    @property
    def takes_all(self) -> bool:
        """Whether there is one group, and what is written for it is true of any value.

        The label of a single atom, the ends of a range and the name of a node are not; the mask
        in place of a whole text is.
        """
        if len(self.partition) > 1:
            return False
        domain = self.column.domain
        if self.is_open and isinstance(domain, IntervalDomain):
            return True
        is_atom = self.column.size == 1 and (self.column.min_level == 0 or not domain.width)
        return (
            self.output is Output.LABEL
            and not is_atom
            and group_labels(self.column, self.partition)[0] in self._names_of_all
        )

    @property
    def _names_of_all(self) -> tuple[str, ...]:
        hierarchy = self.column.hierarchy
        if hierarchy is None or not hierarchy.root_is_all:
            return (WHOLE,)
        return (WHOLE, hierarchy.levels[-1][0])


def _is_in_nanoseconds(end: Value) -> bool:
    return isinstance(end, dt.datetime) and _NANOSECONDS[0] <= end <= _NANOSECONDS[1]


@dataclass(frozen=True)
class Verbatim:
    """A column that is released as it is."""

    name: str
    type: str

    @property
    def released_names(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True)
class Pseudonym:
    """A column released as a keyed hash; `key` names the parameter that holds the key."""

    name: str
    key: str

    @property
    def released_names(self) -> tuple[str, ...]:
        return (self.name,)


Item = Generalized | Verbatim | Pseudonym


@dataclass(frozen=True)
class Sensitive:
    """A column that privacy models speak of, whether it is released or not."""

    name: str
    type: str
    kind: Kind


@dataclass(frozen=True)
class Recipe:
    """A release: which columns, in the source's order, and what becomes of rows.

    k            the least number of people in a class
    suppress     whether rows of classes that fall short of k or of a model are left out, or
                 marked where `marker` is given; if not, no row is left out and such a class is
                 for the verification to refuse
    subject      the column that names the person a row is about; None counts rows
    header       lines for the comment above the SQL
    models       what every class must satisfy beyond k
    sensitive    the columns that models speak of
    hierarchies  of sensitive columns, for the hierarchical distance
    population   for k-map: a relation with the quasi-identifiers of the source under the same
                 names; rows whose values belong to no group do not count
    population_subject  the column that names the person a row of it is about; None counts rows
    """

    source: exp.Expr
    items: tuple[Item, ...]
    k: int
    suppress: bool = False
    marker: str | None = None
    subject: str | None = None
    unseen: Unseen = Unseen.ERROR
    order: Order = Order.SORTED
    header: tuple[str, ...] = field(default=())
    models: tuple[Model, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: exp.Expr | None = None
    population_subject: str | None = None

    def __post_init__(self) -> None:
        counts = Counter(name.lower() for name in self.released_names)
        for name, count in counts.items():
            if count > 1:
                raise CompileError(
                    f"the release would have two columns {name!r}; leave the other one out, or "
                    "choose another output than bounds"
                )

    @property
    def generalized(self) -> tuple[Generalized, ...]:
        return tuple(item for item in self.items if isinstance(item, Generalized))

    @property
    def released_names(self) -> tuple[str, ...]:
        return tuple(name for item in self.items for name in item.released_names)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The released columns whose equal values make a class."""
        return tuple(name for item in self.generalized for name in item.released_names)

    @property
    def counts_population(self) -> bool:
        """Whether the SELECT reads the population; otherwise only risks are told by it."""
        return any(model.statistic.measure is Measure.POPULATION for model in self.models)

    @property
    def measured(self) -> tuple[Sensitive, ...]:
        """The sensitive columns that models speak of, each once, in the order of the models."""
        known = {column.name: column for column in self.sensitive}
        names = dict.fromkeys(m.column for m in self.models if m.column is not None)
        for name in names:
            if name not in known:
                raise CompileError(f"a privacy model is for {name!r}, which is no sensitive column")
        return tuple(known[name] for name in names)
