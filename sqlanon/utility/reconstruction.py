"""Reconstructs a release with a random value of its group in every cell.

First an atom of the group is drawn, all equally likely, then a value of the atom: the same
assumption as in the estimates of a workload. The draw depends on the seed, the column and the
number of the row in the order of all released columns, so not on the order of the source.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from sqlglot import exp

from sqlanon.domain import Generalized, IntervalDomain, exact, literal
from sqlanon.engines import Engine, Kind, decimal_places, is_text_type, released_type
from sqlanon.release import (
    Item,
    Order,
    Verbatim,
    compile_release,
    equalities,
    is_text,
    keeps_values,
    value_literal,
)
from sqlanon.render import Sql, render
from sqlanon.utility.own_queries import unlike
from sqlanon.utility.released_classes import by_labels, groups_by_label

_KEY = "of no release"
"""Stands for the keys of pseudonyms: the rows stay here, and only equality of them counts."""

_MOST_STEPS = 2**62
_MOST_PLACES = 18
"""With more steps, or digits after the point, the engine's numbers would overflow."""


@dataclass(frozen=True)
class _Drawn:
    """A generalized column: the lists that its values are drawn from.

    groups  label, first atom and size of each group
    atoms   by atom its number and its value, or its lowest value and its steps of `unit`
    """

    item: Generalized
    engine: Engine
    label: exp.Expr
    number: exp.Expr
    salt: str
    groups_name: str
    atoms_name: str
    groups: list[exp.Tuple]
    atoms: list[exp.Tuple]
    unit: int | Decimal = 1

    @property
    def is_in_group(self) -> exp.Expr:
        """Whether a row has the label of a group; NULL equals NULL."""
        label = exp.cast(_column("label", self.groups_name), "text")
        has_null = any(isinstance(each.expressions[0], exp.Null) for each in self.groups)
        return exp.and_(*equalities(self.label, label, Kind.TEXT if has_null else None))

    @property
    def is_drawn(self) -> exp.Expr:
        """Whether an atom is the drawn one."""
        first, size = (_column(name, self.groups_name) for name in ("first", "size"))
        drawn = first + exp.cast(self._chance() % size, "bigint")
        return exp.EQ(this=_column("atom", self.atoms_name), expression=drawn)

    @property
    def value(self) -> exp.Expr:
        """The drawn value."""
        low, steps = (_column(name, self.atoms_name) for name in ("low", "steps"))
        value: exp.Expr = low
        if isinstance(self.item.column.domain, IntervalDomain):
            value = self._within(low, steps)
        return _typed(value, self.item, self.engine)

    def _within(self, low: exp.Expr, steps: exp.Expr) -> exp.Expr:
        chance, kind = self._chance(second=True), self.item.column.domain.kind
        if kind is Kind.FLOAT:
            bits = exp.Literal.number(2**53)
            return low + steps * exp.paren(chance % bits / bits.copy())
        step = exp.cast(chance % steps, "bigint")
        if kind is Kind.DATE:
            return low + exp.cast(step, "int")
        if kind is Kind.TIMESTAMP:
            return low + exp.func("TO_MICROSECONDS", step)
        if kind is Kind.INTEGER:
            low = exp.cast(low, "hugeint")
        return low + step * literal(self.unit)

    def _chance(self, *, second: bool = False) -> exp.Expr:
        """A number that is the same on every machine; the `second` is for the value in its atom."""
        text = exp.func("CONCAT", exp.Literal.string(self.salt), self.number.copy())
        return self.engine.number_from(text, second=second)


def reconstruction(engine: Engine, recipe: Order, seed: int, *, guarded: bool = False) -> Sql:
    """The SELECT of the reconstructed rows: the columns of the release, in the source's types.

    A generalized column has the source's name, also where the release writes two bounds.
    """
    labelled = by_labels(recipe)
    release = compile_release(labelled, guarded=guarded).select
    release.set("order", None)
    for key in list(release.find_all(exp.Placeholder)):
        key.replace(exp.Literal.string(_KEY))
    taken = {table.name.lower() for table in recipe.source.find_all(exp.Table)}
    taken |= {name.lower() for name in labelled.released_names}
    prefix = unlike("sqlanon", taken)
    rows, number = f"{prefix}_rows", f"{prefix}_number"
    drawn = [
        _drawn(engine, item, labelled, prefix, place, seed)
        for place, item in enumerate(labelled.items)
        if isinstance(item, Generalized) and not keeps_values(item, labelled)
    ]
    values: dict[str, exp.Expr] = {i.name: _column(i.name, rows) for i in labelled.items}
    # What is released as it is may have come in another type, such as a wider float.
    values |= {i.name: _typed(values[i.name], i, engine) for i in labelled.generalized}
    values |= {each.item.name: each.value for each in drawn}
    return render(
        "utility/reconstruct.sql",
        dialect=engine.dialect,
        rows=rows,
        number=number,
        release=release,
        order=[_ordered(item, labelled) for item in labelled.items],
        drawn=drawn,
        values=values,
    )


def _drawn(
    engine: Engine, item: Generalized, recipe: Order, prefix: str, place: int, seed: int
) -> _Drawn:
    groups = groups_by_label(item, recipe)
    unit = _unit(item)
    return _Drawn(
        item,
        engine,
        label=exact(_column(item.name, f"{prefix}_rows")),
        number=_column(f"{prefix}_number", f"{prefix}_rows"),
        salt=f"{seed}/{place}/",
        groups_name=f"{prefix}_groups_{place}",
        atoms_name=f"{prefix}_atoms_{place}",
        groups=[_tuple(label, start, size) for label, _, start, size in groups],
        atoms=[_tuple(n, *atom) for n, atom in enumerate(_atoms(item, unit))],
        unit=unit,
    )


def _tuple(*cells: object) -> exp.Tuple:
    """A row of a list: expressions, texts, whole numbers, None for NULL."""
    return exp.Tuple(expressions=[exp.convert(each) for each in cells])


def _atoms(item: Generalized, unit: int | Decimal) -> list[tuple[exp.Expr, exp.Expr]]:
    domain = item.column.domain
    if isinstance(domain, IntervalDomain):
        ends = list(pairwise(domain.edges))
        # The last interval is closed, so its right end may be drawn as well.
        steps = [_steps(low, high, unit, closed=high == domain.edges[-1]) for low, high in ends]
        found = [(literal(low), literal(s)) for (low, _), s in zip(ends, steps, strict=True)]
    else:
        found = [(value_literal(item, value), exp.null()) for value in domain.values]
    return [*found, *([(exp.null(), exp.null())] if domain.has_null else [])]


def _unit(item: Generalized) -> int | Decimal:
    """The distance of neighbouring numbers that may be drawn from an interval."""
    domain = item.column.domain
    if not isinstance(domain, IntervalDomain) or domain.kind not in (Kind.INTEGER, Kind.DECIMAL):
        return 1
    unit = Decimal(1)
    if domain.kind is Kind.DECIMAL:
        unit = Decimal(1).scaleb(-min(decimal_places(item.type), _MOST_PLACES))
    widest = max(Decimal(str(b)) - Decimal(str(a)) for a, b in pairwise(domain.edges))
    unit *= max(1, int(widest / unit) // _MOST_STEPS + 1)
    return int(unit) if domain.kind is Kind.INTEGER else unit


def _steps(low: object, high: object, unit: int | Decimal, *, closed: bool) -> int | float:
    """The number of values in an interval, or its width if they are infinitely many."""
    if isinstance(low, float) and isinstance(high, float):
        return high - low
    if isinstance(low, dt.datetime) and isinstance(high, dt.datetime):
        return (high - low) // dt.timedelta(microseconds=1) + closed
    if isinstance(low, dt.date) and isinstance(high, dt.date):
        return (high - low).days + closed
    return max(1, int((Decimal(str(high)) - Decimal(str(low))) / Decimal(unit)) + closed)


def _typed(value: exp.Expr, item: Generalized, engine: Engine) -> exp.Expr:
    """A value in the type of the source, or in that of a release if it differs."""
    plain = released_type(item.type, engine.dialect)
    return exp.cast(value, plain or exp.DataType.build(item.type, dialect=engine.dialect))


def _ordered(item: Item, recipe: Order) -> exp.Expr:
    """A released column for ORDER BY: texts are compared exactly."""
    column = exp.column(item.name, quoted=True)
    if isinstance(item, Generalized):
        return exact(column) if is_text(item, recipe) else column
    is_plain = isinstance(item, Verbatim) and not is_text_type(item.type)
    return column if is_plain else exact(column)


def _column(name: str, table: str) -> exp.Column:
    return exp.column(name, table=table, quoted=True)
