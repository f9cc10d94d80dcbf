"""The declaration of a privacy model, and the registry of all models.

A model is one class in one file: definition and bound, policy keys, options of a check, formulas,
wording. To add one, decorate it with `@register` and import it in the `__init__` of this package;
policies, searches, releases, audits, certificates and commands read the registry.

The formula is written three times on purpose: for searches (`reached`), for the SQL of a release
(`released`) and for the audit of the released table (`audited`). The third shares nothing with
the others, so that it finds their mistakes. What a formula reads is a `ClassCounts`, `ValueRows` or
`AuditedColumn`.

Models apply to the classes of a release. c_v is the number of people in a class with the
sensitive value v, n = Σ c_v and p_v = c_v / n; q_v is the same share in the whole source. NULL
is a value like any other. If subjects have several rows, a person counts once for each of their
values in the class. Suppressed classes need not satisfy a model, but they count in the q_v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, create_model
from sqlglot import exp

from sqlanon.domain import Hierarchy, Value, ValueDomain, format_value, sort_key
from sqlanon.engines import Kind
from sqlanon.errors import EvaluationError, PrivacyError
from sqlanon.keys import Number, Section, Whole, Words, about
from sqlanon.wording import figure

TOLERANCE = 1e-9
"""Numbers within this distance count as equal, so that the order of a sum cannot decide whether a
bound is met. Numbers are never rounded before a comparison: a tie could go either way."""

DIGITS = 9
"""Decimal places of fractions in reports. The last one may differ between two reports on the same
table."""

Positive = Annotated[Number, Field(gt=0)]
# For what classes must stay below: nearer to 0, a number counts as 0.
Above = Annotated[Number, Field(gt=TOLERANCE)]

T = TypeVar("T")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[Any]
"""Whole numbers, or floats where they would be too large."""


class SensitiveColumn(NamedTuple):
    """A column that a model is bound to."""

    name: str
    kind: Kind | None
    type: str
    has_hierarchy: bool = False


class ForColumns(Section):
    """A model of some sensitive columns."""

    columns: Annotated[
        Annotated[list[str], Field(min_length=1)] | None,
        about("The sensitive columns that it is for. Unless given: all."),
    ] = None


class Option(NamedTuple):
    """A keyword of `check` and an option of `sqlanon check`, in place of a key of a policy.

    field  the key of the model's section; None if the model has a single value instead
    type   float, int, or the allowed words
    """

    name: str
    field: str | None
    help: str
    type: type | tuple[str, ...] = float


class Figure(NamedTuple):
    """A figure that an audit states for every sensitive column: what its worst class reaches.

    name            in certificates
    title, meaning  in tables
    places          in the JSON of a check: path and key, {column} being the column
    model           states the formula; its bound has no meaning
    unit            whether it is a count, a share, or another number
    """

    name: str
    title: str
    meaning: str
    places: tuple[tuple[str, ...], ...]
    model: Model
    unit: str = "number"


@dataclass(frozen=True)
class SourceValues:
    """The figures of a sensitive column before any class is made.

    people       by value, the most frequent first
    left_out     the number of rows that may be suppressed
    is_mixture   whether the whole is a mixture of the classes, because everyone has one row
    population   the number of people in the population
    """

    people: Ints
    left_out: int
    is_mixture: bool
    population: int | None


@dataclass(frozen=True)
class Model(ABC):
    """A privacy model for one sensitive column, or without a column (`column=None`).

    key               its name in policies
    parameter         the field with its bound
    symbol            the letter of its bound, for the heads of tables
    measure           the name of its formula in certificates and saved walks
    at_least          whether the reached number must be at least the bound, or at most
    strict            whether the bound itself is not enough
    is_whole          whether the number is a count
    monotone          whether classes that satisfy it still do after a merge
    monotone_by_subject  the same if a person may have rows in both classes
    needs_population  whether it counts people of a population, and no sensitive column
    asks_which_occur  whether it needs only which values occur in a class, not how often
    is_compared       whether classes are compared with the whole source
    section           the policy keys under `key`; a model without a column has a single value
    summary           their meaning
    options           the options of a check that set it
    """

    column: str | None

    key: ClassVar[str]
    parameter: ClassVar[str]
    symbol: ClassVar[str]
    measure: ClassVar[str]
    at_least: ClassVar[bool]
    strict: ClassVar[bool] = False
    is_whole: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    monotone_by_subject: ClassVar[bool] = False
    needs_population: ClassVar[bool] = False
    asks_which_occur: ClassVar[bool] = False
    is_compared: ClassVar[bool] = False
    section: ClassVar[Any]
    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()

    def __post_init__(self) -> None:
        # Reached numbers are at least 0, and numbers near 0 count as equal to it.
        if self.strict and not self.at_least and not self.bound > TOLERANCE:
            raise PrivacyError(
                f"{self.key}.{self.symbol} is {self.bound:g}, and no class stays below that; "
                "give a number above 1e-9"
            )

    @property
    def bound(self) -> float:
        """The number that is compared with the reached one."""
        return float(getattr(self, self.parameter))

    @classmethod
    def bind(cls, given: Any, column: Any) -> Model:
        """The model that a policy states under the key, for a SensitiveColumn, or None.

        Raises PrivacyError, which names the key of the section that does not fit: `.key: words`.
        """
        return cls(column.name, **{cls.parameter: getattr(given, cls.parameter)})

    @abstractmethod
    def reached(self, c: ClassCounts) -> Cell:
        """The formula of searches: what classes reach, from the counts of the model's column."""

    @abstractmethod
    def released(self, v: ValueRows) -> Released:
        """The formula of releases: what each class reaches, as a part of the SELECT."""

    @abstractmethod
    def audited(self, a: AuditedColumn) -> Floats:
        """The formula of audits: what each class of a table reaches. There is a class."""

    def describe(self) -> str:
        """Describes the requirement for messages and tables."""
        return f"{self.symbol} = {self.bound:g} on {self.column!r}"

    def promise(self, reached: float | None) -> str:
        """The certificate's sentence about every group; None hides the number `reached`."""
        return ""

    @property
    def needs_hierarchy(self) -> bool:
        """Whether it needs a hierarchy of the column."""
        return False

    @property
    def needs_order(self) -> bool:
        """Whether it needs values with an order that says how far apart they are."""
        return False

    @property
    def top(self) -> int:
        """A second parameter that certificates state; 0 without one."""
        return 0

    @classmethod
    def measures(cls) -> tuple[str, ...]:
        """All that `measure` can be."""
        return (cls.measure,)

    @classmethod
    def certified(cls, measure: str, column: str | None, bound: float, top: int) -> Model:
        """The model that a certificate states."""
        return cls(column, **{cls.parameter: int(bound) if cls.is_whole else bound})

    @classmethod
    def figures(cls, column: str) -> tuple[Figure, ...]:
        """The figures that an audit states for every sensitive column, required or not."""
        return ()

    def out_of_reach(self, source: SourceValues) -> Iterator[str]:
        """Explains why no release can satisfy it, however the source is generalized."""
        return iter(())

    @property
    def limit(self) -> float:
        """The bound, moved by the tolerance; compared with numbers in place of the bound.

        The sum is one of decimals: 0.2 + 1e-9 is written 0.200000001.
        """
        if self.is_whole:
            return self.bound
        is_lower = self.at_least is not self.strict
        moved = Decimal(repr(-TOLERANCE if is_lower else TOLERANCE))
        return float(Decimal(repr(self.bound)) + moved)

    def holds(self, reached: float) -> bool:
        """Whether a class, or the worst of all, satisfies the model."""
        return not self.violated(np.array([reached]))[0]

    def violated(self, reached: Floats) -> npt.NDArray[np.bool_]:
        """Which of the reached numbers do not satisfy the model."""
        limit = self.limit
        if self.at_least:
            return np.asarray(reached <= limit if self.strict else reached < limit)
        return np.asarray(reached >= limit if self.strict else reached > limit)

    def violation(self, reached: exp.Expr, limit: exp.Expr) -> exp.Expr:
        """The same as a condition in SQL, where `limit` is the number `self.limit`."""
        kinds = ((exp.GT, exp.GTE), (exp.LT, exp.LTE))
        return kinds[self.at_least][self.strict](this=reached, expression=limit)

    def shortfall(self, reached: Floats) -> Floats:
        """What is missing to the bound, on the model's own scale; at most 0 where it holds."""
        missing = self.bound - reached if self.at_least else reached - self.bound
        missing = np.round(missing, DIGITS)
        return np.where(
            self.violated(reached), np.maximum(missing, TOLERANCE), np.minimum(missing, 0.0)
        )

    def worst(self) -> float:
        """The worst possible number, which a table without classes reaches."""
        return 0.0 if self.at_least else np.inf


@dataclass(frozen=True)
class Reached:
    """What the worst class reaches in a model; infinite without a bound."""

    model: Model
    value: float

    @property
    def holds(self) -> bool:
        return self.model.holds(self.value)

    @property
    def number(self) -> int | float | None:
        """The reached number, rounded, an integer if it counts something; None without a bound."""
        if np.isinf(self.value):
            return None
        value = round(float(self.value), DIGITS)
        return int(value) if value.is_integer() else value

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "model": self.model.key,
            "column": self.model.column,
            "required": self.model.describe(),
            "reached": self.number,
            "holds": self.holds,
        }

    @property
    def shown(self) -> str:
        """The reached number as tables print it."""
        if self.number is None:
            return "unbounded"
        return f"{self.number:,}" if isinstance(self.number, int) else f"{self.number:,.3f}"

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "does not hold"
        return f"{self.model.describe()} {verdict}: reached {self.shown}"


MODELS: list[type[Model]] = []
"""The models, in the order of their keys in a policy."""

M = TypeVar("M", bound=type[Model])


def register(model: M) -> M:
    """Adds a model to those that policies may require."""
    MODELS.append(model)
    return model


def keys() -> dict[str, type[Model]]:
    """The models by their policy key."""
    found: dict[str, type[Model]] = {}
    for model in MODELS:
        found.setdefault(model.key, model)
    return found


def figures(column: str) -> list[Figure]:
    """The figures that an audit states for a sensitive column."""
    return [figure for model in MODELS for figure in model.figures(column)]


def certified_model(measure: str, column: str | None, bound: float, top: int) -> Model:
    """The model that a certificate states; KeyError where no model has the measure."""
    by_measure = {each: model for model in MODELS for each in model.measures()}
    return by_measure[measure].certified(measure, column, bound, top)


def bound_models(
    given: Mapping[str, Any],
    columns: Mapping[str, SensitiveColumn],
    refused: Callable[[str], Exception],
) -> Iterator[Model]:
    """The models that the keys of a policy state, one for each column that they are for.

    A model that does not fit its column is raised as `refused`, with the path of the key.
    """
    for key, model in keys().items():
        for section in listed(given.get(key)):
            wanted: list[SensitiveColumn | None] = [None]
            if isinstance(section, ForColumns):
                wanted = [columns[name] for name in section.columns or columns]
            try:
                yield from [model.bind(section, column) for column in wanted]
            except PrivacyError as error:
                raise refused(f"privacy.{key}{error}") from None


def listed(given: T | list[T] | None) -> list[T]:
    """One section, several or none as a list."""
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


def reached_words(reached: float | None, words: str, spell: Callable[[float], str] = figure) -> str:
    """The reached number as the end of a sentence; "" if it must stay hidden."""
    return "" if reached is None else f"; {words.format(spell(reached))}"


class HomogeneitySection(ForColumns):
    """Sensitive columns that are released without a model for them."""

    accept: Annotated[Words, about("Why that is accepted; stands in the certificate.")]


class PrivacySection(Section):
    """What every class of the released table must satisfy."""

    k: Annotated[Whole, about("The least number of people in a class.", ge=1)]

    if TYPE_CHECKING:  # a key of `privacy_section`, after those of the models
        homogeneity: HomogeneitySection | None

    @property
    def models(self) -> dict[str, Any]:
        """The values given for the keys of privacy models."""
        return {key: getattr(self, key) for key in keys()}

    def of_columns(self) -> dict[str, Sequence[ForColumns]]:
        """The sections for sensitive columns, by key."""
        found: dict[str, Sequence[ForColumns]] = {
            key: listed(getattr(self, key))
            for key, model in keys().items()
            if not model.needs_population
        }
        return found | {"homogeneity": listed(self.homogeneity)}


def privacy_section() -> type[PrivacySection]:
    """The section with the keys of all models that are registered now."""
    return _privacy_section(tuple(keys().values()))


@cache
def _privacy_section(models: tuple[type[Model], ...]) -> type[PrivacySection]:
    fields: dict[str, Any] = {}
    for model in models:
        kind: Any = model.section
        several: Any = kind if model.needs_population else kind | list[kind]
        fields[model.key] = (Annotated[several | None, about(model.summary)], None)
    why = about("Why sensitive columns without a model may be released.")
    fields["homogeneity"] = (Annotated[HomogeneitySection | None, why], None)
    return create_model(
        "PrivacySection", __base__=PrivacySection, __doc__=PrivacySection.__doc__, **fields
    )


Cell: TypeAlias = Any
"""SQL expressions, or an array of numbers; both take + - * / with each other and with numbers."""


class ClassCounts(ABC):
    """How often the classes of schemes hold each value of a column.

    A model writes its formula once. SQL computes it if every value has a count of its own; if a
    column has too many values for that, arrays do.

    size        one number per class: its people
    population  the people of the population who match it
    pairs       n = Σ c_v; equal to the people of the class if each has one value
    counts      one number per value and class: c_v
    totals      one number per value: how many people of the source have it
    whole       the sum of the totals
    values      how many values there are
    """

    size: Cell
    population: Cell
    pairs: Cell
    counts: Cell
    totals: Cell
    whole: int
    values: int

    def __init__(self, domain: ValueDomain | None, tree: Hierarchy | None) -> None:
        self._domain = domain
        self._tree = tree

    @cached_property
    def levels(self) -> Sequence[Ints]:
        """The group of each value on every level of the column's hierarchy below the root."""
        assert self._domain is not None
        if self._tree is None:
            raise EvaluationError(f"there is no hierarchy of column {self._domain.column!r}")
        return levels_of(self._tree, self._domain)

    @property
    def surplus(self) -> Cell:
        """(p_v − q_v) · n · whole, a whole number per value and class."""
        return self.counts * self.whole - self.of_each(self.pairs) * self.totals

    @property
    def ratios(self) -> Cell:
        """p_v / q_v per value and class."""
        return self.counts * self.whole / (self.of_each(self.pairs) * self.totals)

    @abstractmethod
    def grouped(self, groups: Ints) -> ClassCounts:
        """The same with groups in place of values; `groups` has the number of each value's."""

    @abstractmethod
    def of_each(self, per_class: Cell) -> Cell:
        """A number per class beside every value of the class."""

    @abstractmethod
    def summed(self, each: Cell) -> Cell:
        """Per class the sum over its values. What values of count 0 add must be 0."""

    @abstractmethod
    def largest(self, each: Cell) -> Cell:
        """Per class the maximum over its values; one of count 0 must not have it."""

    @abstractmethod
    def distinct(self) -> Cell:
        """Per class the number of values that occur."""

    @abstractmethod
    def least(self) -> Cell:
        """Per class the least c_v, 0 where a value of the column is missing."""

    @abstractmethod
    def most(self, number: int) -> Cell:
        """Per class how often the most frequent values occur, so many of them."""

    @abstractmethod
    def along(self) -> Cell:
        """Per class Σ_i |Σ_{j≤i} surplus_j| over the values in order."""

    @abstractmethod
    def positive(self, cell: Cell) -> Cell:
        """The numbers above 0, and 0 in place of the others."""

    @abstractmethod
    def absolute(self, cell: Cell) -> Cell: ...

    @abstractmethod
    def ln(self, cell: Cell) -> Cell:
        """The natural logarithm of numbers; of 0 some finite number."""

    @abstractmethod
    def exp(self, cell: Cell) -> Cell: ...

    @abstractmethod
    def infinite_at_0(self, divisor: Cell, number: Cell) -> Cell:
        """The number, infinite where the divisor is 0."""


def levels_of(tree: Hierarchy, domain: ValueDomain) -> Sequence[Ints]:
    """The group of each value on every level below the root, where NULL is alone on each.

    There is one level at least: in a hierarchy of one value, that value and NULL.
    """
    places = {sort_key(leaf): i for i, leaf in enumerate(tree.parsed(domain.kind))}
    missing = [format_value(value) for value in domain.values if sort_key(value) not in places]
    tree.refuse_without_leaf(domain.column, missing)
    found = np.array([places[sort_key(value)] for value in domain.values], dtype=np.int64)
    alone = [len(tree.leaves)] if domain.has_null else []
    return [
        np.array([*np.asarray(tree.groups(level))[found], *alone], dtype=np.int64)
        for level in range(max(tree.height, 1))
    ]


class Released(NamedTuple):
    """A statistic of a class in SQL; `is_infinite` where it is beyond every bound."""

    number: exp.Expr
    is_infinite: exp.Expr | None = None


class ValueRows(ABC):
    """The values of one column by class, a row for each value that a class has.

    What a formula reads is computed, and nothing else.

    kind        of the values
    size        the people of the class
    population  the people of the population who fit the class, where there is a population
    """

    kind: Kind
    size: exp.Expr
    population: exp.Expr

    @property
    @abstractmethod
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the column; raises CompileError without one."""

    @abstractmethod
    def read(self, part: str, column: str) -> exp.Expr:
        """A column of a part, `counts` or `source`, which is counted from now on."""

    @property
    def people(self) -> exp.Expr:
        """Of a row: how many people of the class have the value, c_v."""
        return self.read("counts", "people")

    @property
    def total(self) -> exp.Expr:
        """Of a row: n = Σ c_v over the rows of its class."""
        return self.read("counts", "total")

    @property
    def rank(self) -> exp.Expr:
        """Of a row: its place in its class, 1 for the most frequent value."""
        return self.read("counts", "rank")

    @property
    def source_people(self) -> exp.Expr:
        """Of a row: how many people of the source have the value."""
        return self.read("source", "people")

    @property
    def source_total(self) -> exp.Expr:
        """Of a row: the sum of these over all values."""
        return self.read("source", "total")

    @property
    def source_values(self) -> exp.Expr:
        """Of a row: how many values the source has."""
        return self.read("source", "values")

    @property
    def leaf(self) -> exp.Expr:
        """Of a row: the number of its value among those of the source, from 1."""
        return self.read("source", "leaf")

    @abstractmethod
    def per_class(self, name: str, aggregate: exp.Expr) -> exp.Expr:
        """An aggregate over the rows of each class; `name` is its own."""

    @abstractmethod
    def listed(self, part: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
        """Writes a list into the statement, which a template reads by the name of the part."""

    @abstractmethod
    def by_template(
        self,
        template: str,
        parts: Sequence[str],
        same: Mapping[str, tuple[str, str]],
        **context: object,
    ) -> exp.Expr:
        """The column `distance` of a template, which has one row per class.

        The template reads `counts`: the class, the value and the people, and `source`: the value,
        the people and their total; both also have what was read of rows before. `parts` names
        the queries of its WITH and, last, the whole; each is called after the column. `same` asks
        for conditions that the values of two parts are the same.
        """


def times(*factors: exp.Expr) -> exp.Expr:
    product, *more = factors
    for factor in more:
        product = exp.Mul(this=product, expression=factor)
    return product


def quotient(above: exp.Expr, below: exp.Expr) -> exp.Expr:
    """A quotient of whole numbers as a float."""
    divisor = exp.paren(below, copy=False) if isinstance(below, exp.Binary) else below
    return exp.Div(this=exp.cast(above, "double"), expression=divisor)


def found(v: ValueRows) -> exp.Expr:
    """c·N, the people of a class with a value, in parts of n·N."""
    return times(v.people, v.source_total)


def expected(v: ValueRows) -> exp.Expr:
    """n·Q, how many they would be with the source's share."""
    return times(v.total, v.source_people)


def excess(v: ValueRows) -> exp.Expr:
    """c·N − n·Q: what a class has too much of a value, compared with the source."""
    return exp.Sub(this=found(v), expression=expected(v))


def positive(value: exp.Expr) -> exp.Expr:
    """The value, or 0 where it is less; there is no NULL among counts."""
    return exp.Greatest(this=value, expressions=[exp.Literal.number(0)], ignore_nulls=True)


_EXACT = 2**62


def _none() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class AuditedColumn:
    """The people of every class of a table by value, and of the reference by value.

    people      by class, its people, who may have several values each
    rows        by class, its rows
    population  by class, the people of the population who match it; empty without one
    whole       by value, people of the reference
    of_class    of every pair of a class and a value that it has, the number of the class;
    of_value    the number of the value, ascending within the class;
    counts      and how many people of the class have it: c_v
    is_ordered  whether the values are numbered in an order that says how far apart they are
    leaves      by value its leaf in the hierarchy, -1 for NULL
    """

    people: Ints
    rows: Ints
    population: Ints = field(default_factory=_none)
    whole: Ints = field(default_factory=_none)
    of_class: Ints = field(default_factory=_none)
    of_value: Ints = field(default_factory=_none)
    counts: Ints = field(default_factory=_none)
    is_ordered: bool = False
    hierarchy: Hierarchy | None = None
    leaves: Ints = field(default_factory=_none)

    @cached_property
    def starts(self) -> Ints:
        """Where the pairs of each class begin; every class has one."""
        return np.flatnonzero(np.diff(self.of_class, prepend=-1))

    @cached_property
    def n(self) -> Ints:
        """By class, Σ c_v."""
        return np.asarray(self.summed(self.counts))

    @property
    def total(self) -> int:
        """Σ over the values of the reference."""
        return int(self.whole.sum())

    def summed(self, values: Numbers) -> Numbers:
        """By class, the sum over its pairs."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def largest(self, values: Floats) -> Floats:
        """By class, the maximum over its pairs."""
        return np.asarray(np.maximum.reduceat(values, self.starts))

    @property
    def expected(self) -> Numbers:
        """q_v of every pair, times n and the total of the reference."""
        return self.whole[self.of_value] * wide(self.n, self.total)[self.of_class]

    @property
    def excess(self) -> Numbers:
        """p_v − q_v of every pair, times the same."""
        return wide(self.counts, self.total) * self.total - self.expected

    def groups(self, level: int) -> Ints:
        """The group of every value on a level of the hierarchy; NULL is alone below the root."""
        assert self.hierarchy is not None
        if level >= max(1, self.hierarchy.height):
            return np.zeros(len(self.whole), np.int64)
        found = np.asarray([*self.hierarchy.groups(level), -1])[self.leaves]
        return np.unique(found, return_inverse=True)[1]

    def held_groups(self, groups: Ints) -> tuple[Ints, Ints, Numbers]:
        """Of every pair of a class and a group that it has: class, group, and excess."""
        whole = np.bincount(groups, self.whole).astype(np.int64)
        pairs, place = np.unique(
            self.of_class * whole.size + groups[self.of_value], return_inverse=True
        )
        counts = np.zeros(pairs.size, np.int64)
        np.add.at(counts, place, self.counts)
        of_class, group = pairs // whole.size, pairs % whole.size
        expected = whole[group] * wide(self.n, self.total)[of_class]
        return of_class, group, wide(counts, self.total) * self.total - expected


def divided(above: Numbers, below: Numbers) -> Floats:
    """The quotients, infinite where the divisor is 0."""
    out = np.full(above.size, np.inf)
    np.divide(above, below, out=out, where=below > 0)
    return out


def wide(values: Ints, *factors: int) -> Numbers:
    """The values as they are if products with the factors fit into 64 bits, else as floats."""
    size = max(1, int(values.max(initial=0)))
    for factor in factors:
        size *= max(1, factor)
    return values if size < _EXACT else values.astype(np.float64)
