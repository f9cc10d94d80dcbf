"""What privacy models measure of every class, as parts of a statement.

For each sensitive column: the people of a class by value (`…_counts`), those of the source
(`…_source`), and one row of measures per class (`…_measures`; by the order of values `…_order`,
by a hierarchy `…_levels`). With c of n people in a class and Q of N in the source, c·N − n·Q is
what the class has too much of a value, in parts of n·N.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.compile.arithmetic import (
    distance,
    excess,
    expected,
    found,
    ratio,
    same_value,
    times,
    total,
)
from sqlanon.compile.levels import level_parts
from sqlanon.compile.order import order_parts
from sqlanon.compile.parts import Names, cte, named, of, ordinals, people
from sqlanon.compile.recipe import Sensitive
from sqlanon.compile.values import is_not_null, is_null
from sqlanon.errors import CompileError
from sqlanon.hierarchy import Hierarchy
from sqlanon.model import Kind
from sqlanon.privacy import Measure, Statistic

MOST_BYTES = 40
"""Of a column's name, what names of parts begin with: databases cut long names."""

_AGAINST_SOURCE = {
    Measure.EQUAL_DISTANCE,
    Measure.ORDERED_DISTANCE,
    Measure.HIERARCHICAL_DISTANCE,
    Measure.GAIN,
    Measure.RATIO,
}


@dataclass(frozen=True)
class Rows:
    """Rows that a sensitive column is counted in, and how they tell values and people apart."""

    relation: exp.Expr
    value: exp.Expr
    subject: exp.Expr | None


@dataclass(frozen=True)
class Reached:
    """A statistic of a class as SQL; `is_infinite` where it is beyond every bound."""

    number: exp.Expr
    is_infinite: exp.Expr | None = None


@dataclass
class Measuring:
    """The parts that measure one sensitive column.

    number    the column with the number of a class, in `members` and all that is made of them
    members   the rows by class
    source    all rows of the source
    tables    those parts that have one row per class
    """

    names: Names
    column: Sensitive
    statistics: Collection[Statistic]
    number: str
    members: Rows
    source: Rows
    hierarchy: Hierarchy | None = None
    ctes: list[exp.CTE] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        wanted = {statistic.measure for statistic in self.statistics}
        self._flat = False  # all values of the hierarchy are equally far apart
        if Measure.HIERARCHICAL_DISTANCE in wanted:
            if self.hierarchy is None:
                raise CompileError(
                    f"the hierarchical distance needs a hierarchy of column {self.column.name!r}"
                )
            self._flat = self.hierarchy.height <= 1
        self._wanted = wanted | ({Measure.EQUAL_DISTANCE} if self._flat else set())
        self._counts = self._add("counts", self._by_value())
        self._source = ""
        if self._wanted & _AGAINST_SOURCE:
            self._source = self._add("source", self._by_value_in_source())
        self._measures = ""
        if outputs := self._outputs():
            self._measures = self._add("measures", self._of_classes(outputs), True)
        self._order = self._levels = ""
        if Measure.ORDERED_DISTANCE in self._wanted:
            parts = order_parts(self._counts, self._source, self.number, self._is_text, self._name)
            self._order = self._take(parts)
        if self.hierarchy is not None and self._has_levels:
            parts = level_parts(
                self.hierarchy, self.column, self._counts, self._source, self.number, self._name
            )
            self._levels = self._take(parts)

    def reached(self, statistic: Statistic, class_size: exp.Expr) -> Reached:
        """A statistic of this column, by the tables; `class_size` are the people of the class."""
        measures = self._measures
        match statistic.measure:
            case Measure.DISTINCT:
                return Reached(of(measures, "values"))
            case Measure.RECURSIVE:
                others = of(measures, _from(statistic.top))
                return Reached(ratio(of(measures, "most"), others), is_null(others.copy()))
            case Measure.SHARE:
                return Reached(ratio(of(measures, "most"), class_size))
            case Measure.RATIO:
                missing = of(measures, "values") < of(measures, "source_values")
                return Reached(of(measures, "ratio"), missing)
            case Measure.ORDERED_DISTANCE:
                return Reached(of(self._order, "distance"))
            case Measure.HIERARCHICAL_DISTANCE if not self._flat:
                return Reached(of(self._levels, "distance"))
            case Measure.EQUAL_DISTANCE | Measure.HIERARCHICAL_DISTANCE:
                return Reached(of(measures, "distance"))
            case measure:
                return Reached(of(measures, measure.value))

    @property
    def _has_levels(self) -> bool:
        return Measure.HIERARCHICAL_DISTANCE in self._wanted and not self._flat

    def _name(self, part: str) -> str:
        start = self.column.name.encode()[:MOST_BYTES].decode(errors="ignore")
        return self.names.free(f"{start}_{part}")

    def _add(self, part: str, query: exp.Query, is_table: bool = False) -> str:
        name = self._name(part)
        self.ctes.append(cte(name, query))
        if is_table:
            self.tables.append(name)
        return name

    def _take(self, parts: list[exp.CTE]) -> str:
        """Parts of which the last has one row per class; its name."""
        self.ctes += parts
        self.tables.append(parts[-1].alias)
        return parts[-1].alias

    def _by_value(self) -> exp.Select:
        """The people of each class by value."""
        number = exp.column(self.number, quoted=True)
        counted = people(self.members.subject)
        outputs = [number, self.members.value.as_("value", quoted=True), _called(counted, "people")]
        if self._wanted & (_AGAINST_SOURCE - {Measure.ORDERED_DISTANCE}):
            outputs.append(_called(total(counted.copy(), number.copy()), "total"))
        if Measure.RECURSIVE in self._wanted:
            order = exp.Order(expressions=[exp.Ordered(this=counted.copy(), desc=True)])
            rank = exp.Window(this=exp.RowNumber(), partition_by=[number.copy()], order=order)
            outputs.append(_called(rank, "rank"))
        return exp.select(*outputs).from_(self.members.relation).group_by(*ordinals(range(2)))

    def _by_value_in_source(self) -> exp.Select:
        """The people of the whole source by value."""
        rows = self.source
        counted = people(rows.subject)
        outputs = [rows.value.as_("value", quoted=True), _called(counted, "people")]
        outputs.append(_called(total(counted.copy()), "total"))
        if Measure.RATIO in self._wanted:
            every = exp.Window(this=exp.Count(this=exp.Star()))
            outputs.append(_called(every, "values"))
        if self._has_levels:
            order = exp.Order(expressions=[exp.Ordered(this=rows.value.copy())])
            outputs.append(_called(exp.Window(this=exp.RowNumber(), order=order), "leaf"))
        select = exp.select(*outputs).from_(rows.relation)
        if rows.subject is not None:  # a row without a subject is about nobody
            select = select.where(is_not_null(rows.subject.copy()))
        return select.group_by(*ordinals(range(1)))

    def _outputs(self) -> dict[str, exp.Expr]:
        """What one pass over the counts tells of each class, by name."""
        counts, source = self._counts, self._source
        outputs: dict[str, exp.Expr] = {}
        count = of(counts, "people")
        if self._wanted & {Measure.DISTINCT, Measure.RATIO}:
            outputs["values"] = exp.Count(this=exp.Star())
        if Measure.PERPLEXITY in self._wanted:
            outputs["perplexity"] = _perplexity(count)
        if self._wanted & {Measure.RECURSIVE, Measure.SHARE}:
            outputs["most"] = exp.Max(this=count.copy())
        for statistic in sorted(self.statistics, key=lambda each: each.top):
            if statistic.measure is Measure.RECURSIVE:
                is_other = of(counts, "rank") >= exp.Literal.number(statistic.top)
                other = exp.Case(ifs=[exp.If(this=is_other, true=count.copy())])
                outputs[_from(statistic.top)] = exp.Sum(this=other)
        if Measure.EQUAL_DISTANCE in self._wanted:
            outputs["distance"] = distance(counts, source)
        if Measure.GAIN in self._wanted:
            gain = ratio(excess(counts, source), expected(counts, source))
            outputs["gain"] = exp.Max(this=gain)
        if Measure.RATIO in self._wanted:
            times_as_likely = ratio(found(counts, source), expected(counts, source))
            outputs["ratio"] = exp.Max(this=exp.Abs(this=exp.Ln(this=times_as_likely)))
            outputs["source_values"] = exp.Max(this=of(source, "values"))
        return outputs

    def _of_classes(self, outputs: dict[str, exp.Expr]) -> exp.Select:
        counts, source = self._counts, self._source
        listed = [_called(value, name) for name, value in outputs.items()]
        select = exp.select(of(counts, self.number), *listed).from_(named(counts))
        if self._wanted & {Measure.EQUAL_DISTANCE, Measure.GAIN, Measure.RATIO}:
            select = select.join(named(source), on=same_value(counts, source, self._is_text))
        return select.group_by(*ordinals(range(1)))

    @property
    def _is_text(self) -> bool:
        return self.column.kind is Kind.TEXT


def _perplexity(count: exp.Expr) -> exp.Expr:
    """exp(−Σ p ln p), which is exp(ln n − Σ c ln c / n)."""
    whole = exp.Sum(this=count.copy())
    weighted = times(count.copy(), exp.Ln(this=exp.cast(count.copy(), "double")))
    entropy = exp.Sub(
        this=exp.Ln(this=exp.cast(whole, "double")),
        expression=exp.Div(this=exp.Sum(this=weighted), expression=whole.copy()),
    )
    return exp.Exp(this=entropy)


def _from(rank: int) -> str:
    """The column with the people of the values from a rank on."""
    return f"from_{rank}"


def _called(value: exp.Expr, name: str) -> exp.Expr:
    return value.as_(name, quoted=True)
