"""Counts a source with one GROUP BY on its own engine and encodes the result."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow._compute import call_function
from sqlglot import exp

from sqlanon.counting.binding import Quasi
from sqlanon.counting.expectation import say_expected
from sqlanon.domain import (
    Codes,
    Column,
    Domain,
    Facet,
    Hierarchy,
    Histogram,
    IntervalDomain,
    Ints,
    Space,
    Tally,
    Value,
    ValueDomain,
    counted_value,
    exact,
    format_value,
    literal,
    parse_value,
    sort_key,
    told_apart,
)
from sqlanon.engines import Kind, Source, fetch_streamed, folds_case, numbers_of
from sqlanon.errors import DomainError, EngineError, SubjectError, UncoveredValueError
from sqlanon.render import render
from sqlanon.wording import counted as amount


def count(
    source: Source,
    quasis: Sequence[Quasi],
    *,
    subject: str | None = None,
    facets: Sequence[str] = (),
    memory: str | None = None,
) -> Histogram:
    """Counts the atom tuples of a source, and each facet column together with them.

    With `subject`, people are the distinct values of that column. Without a subject this takes
    a single GROUP BY; with one, each facet takes one more query. Raises UncoveredValueError if
    a declared domain does not cover the data.

    Texts are compared exactly, as in a release and its verification. Only subjects follow the
    database's collation: those that it treats as equal are one person, so people are never
    overcounted. A long answer of a server is coded in a temporary file, with up to `memory`.
    """
    if not quasis:
        raise DomainError("there is no quasi-identifier; give at least one column that role")
    counter = Counter(source, quasis, facets, memory)
    return counter.by_row() if subject is None else counter.by_subject(subject)


class Counter:
    """Counts one source: `atoms` are the quasi-identifiers, `values` the facets."""

    def __init__(
        self,
        source: Source,
        quasis: Sequence[Quasi],
        facets: Sequence[str],
        memory: str | None = None,
    ) -> None:
        self.source = source
        self.memory = memory
        self.quasis = quasis
        self.relation, self.n_rows = source.relation, _rows_of(source)
        if source.histogram is not None:
            self.relation = source.histogram
        self.atoms = [self._atom(quasi) for quasi in quasis]
        self.values = [self._value(name) for name in facets]

    def by_row(self) -> Histogram:
        values = {f"v{k}": value.expression for k, value in enumerate(self.values)}
        sizes = {a.name: a.domain.size + 1 if a.domain else math.inf for a in self.atoms}
        say_expected(self.source, sizes | {value.name: math.inf for value in self.values})
        table = self._fetch("count.sql", tuples=self._tuple | values)
        columns, codes, rows = self._encoded(table)
        tally = _tally(codes, rows)
        facets = {}
        for k, value in enumerate(self.values):
            encoded = encode(value, table[f"v{k}"], rows)
            facets[value.name] = _facet(encoded, tally)
        if facets:
            tally = _summed(tally)
            facets = {n: dataclasses.replace(f, tally=_summed(f.tally)) for n, f in facets.items()}
        total = int(rows.sum())
        return Histogram(Space(columns), tally, total, total, facets)

    def by_subject(self, subject: str) -> Histogram:
        identity, spelling = self._identity(subject)
        people = self._count_subjects(subject, identity)
        table = self._fetch("count_people.sql", subject=identity, spelling=spelling)
        columns, codes, rows = self._encoded(table)
        numbered = _numbered(table)
        tally = _tally(codes, rows, table, numbered)
        facets = {}
        for value in self.values:
            part = self._fetch(
                "count_people_by_value.sql",
                subject=identity,
                spelling=spelling,
                value=value.expression,
            )
            codes, rows = self._encoded_again(part, columns)
            encoded = encode(value, part["v0"], rows)
            facets[value.name] = _facet(encoded, _tally(codes, rows, part, numbered))
        total = int(tally.rows.sum())
        return Histogram(Space(columns), tally, total, people, facets, subject)

    def people(self, subject: str | None) -> tuple[pa.Table, Tally]:
        """The atom tuples as they were fetched, and their counts, without codes."""
        if subject is None:
            table = self._fetch("count.sql", tuples=self._tuple)
            numbered = None
        else:
            identity, spelling = self._identity(subject)
            self._count_subjects(subject, identity)
            table = self._fetch("count_people.sql", subject=identity, spelling=spelling)
            numbered = _numbered(table)
        rows = numbers_of(table["n_rows"])
        none = np.empty((len(rows), 0), dtype=np.int32)
        return table, _tally(none, rows, table if subject else None, numbered)

    def _identity(self, subject: str) -> tuple[exp.Expr, exp.Expr | None]:
        """The subject as it is counted, and its spelling if several texts may be one person.

        A query could return any spelling of a person, so the templates choose the first.
        """
        info = self.source.column(subject)
        kind = _supported(info.kind, subject, info.type)
        identity = counted_value(subject, kind, info.type)
        spelling = exact(identity.copy()) if kind is Kind.TEXT else None
        return exp.Lower(this=identity) if folds_case(info.type) else identity, spelling

    def _atom(self, quasi: Quasi) -> Counted:
        info = self.source.column(quasi.name)
        kind = _supported(info.kind, quasi.name, info.type)
        domain = quasi.declared_domain(kind)
        if isinstance(domain, IntervalDomain):
            if kind is Kind.TIMESTAMP and info.has_time_zone:
                raise DomainError(
                    f"column {quasi.name!r} has a time zone, so the edges of a range would depend "
                    "on the session; cast it to a timestamp without zone in the source query"
                )
            return Counted(quasi.name, kind, interval_atom(domain), domain)
        return Counted(quasi.name, kind, told_apart(quasi.name, kind, info.type), domain)

    def _value(self, name: str) -> Counted:
        info = self.source.column(name)
        kind = _supported(info.kind, name, info.type)
        return Counted(name, kind, told_apart(name, kind, info.type))

    @property
    def _tuple(self) -> dict[str, exp.Expr]:
        """The atoms of a row, as the templates call them."""
        return {f"q{j}": atom.expression for j, atom in enumerate(self.atoms)}

    def _fetch(self, template: str, **context: Any) -> pa.Table:
        dialect = self.source.engine.dialect
        text = render(
            template,
            dialect=dialect,
            source=self.relation,
            atoms=self._tuple,
            n_rows=self.n_rows,
            **context,
        )
        table = fetch_streamed(self.source.engine, text, self.memory)
        if not len(table):
            raise EngineError(f"{self.source.name} has no rows; there is nothing to anonymize")
        return table

    def _encoded(self, table: pa.Table) -> tuple[list[Column], Codes, Ints]:
        """The completed columns, the codes of the atom tuples, and their rows."""
        rows = numbers_of(table["n_rows"])
        encoded = [encode(c, table[f"q{j}"], rows) for j, c in enumerate(self.atoms)]
        self._refuse_uncovered(encoded)
        columns = [q.complete(e.domain) for q, e in zip(self.quasis, encoded, strict=True)]
        codes = [
            _reordered(e.domain, c.domain)[e.codes] for e, c in zip(encoded, columns, strict=True)
        ]
        return columns, np.column_stack(codes).astype(np.int32), rows

    def _encoded_again(self, table: pa.Table, columns: Sequence[Column]) -> tuple[Codes, Ints]:
        """The same for a later query, whose atoms must be those of the first."""
        rows = numbers_of(table["n_rows"])
        codes = []
        for j, (counted, final) in enumerate(zip(self.atoms, columns, strict=True)):
            fixed = dataclasses.replace(counted, domain=final.domain)
            encoded = encode(fixed, table[f"q{j}"], rows)
            if encoded.uncovered or encoded.domain != final.domain:
                raise EngineError(f"{self.source.name} changed while it was counted; try again")
            codes.append(encoded.codes)
        return np.column_stack(codes).astype(np.int32), rows

    def _refuse_uncovered(self, encoded: Sequence[Encoded]) -> None:
        problems, values = [], {}
        for quasi, counted, result in zip(self.quasis, self.atoms, encoded, strict=True):
            uncovered = result.uncovered
            if isinstance(counted.domain, IntervalDomain) and (result.codes == OUTSIDE).any():
                uncovered = self._outside_range(counted)
            if uncovered:
                problems.append(describe_uncovered(quasi.name, uncovered, _declaration(quasi)))
                values[quasi.name] = [value for value, _ in uncovered]
        if problems:
            advice = "widen the domain, correct the values, or leave the rows out of the source"
            raise UncoveredValueError("\n".join([*problems, advice]), values)

    def _outside_range(self, counted: Counted) -> tuple[tuple[str, int], ...]:
        text = render(
            "uncovered.sql",
            dialect=self.source.engine.dialect,
            source=self.relation,
            n_rows=self.n_rows,
            value=exp.cast(column(counted.name), "text"),
            atom=counted.expression,
        )
        found = self.source.engine.fetch(text)
        return tuple(zip(found["value"].to_pylist(), found["n_rows"].to_pylist(), strict=True))

    def _count_subjects(self, subject: str, identity: exp.Expr) -> int:
        """Counts the people; every row must have a subject."""
        text = render(
            "count_subjects.sql",
            dialect=self.source.engine.dialect,
            source=self.source.relation,
            subject=identity,
        )
        found = self.source.engine.fetch(text).to_pylist()[0]
        if found["n_unnamed"]:
            unnamed = f"{found['n_unnamed']:,} row{'s' if found['n_unnamed'] > 1 else ''}"
            raise SubjectError(
                f"subject column {subject!r} is NULL in {unnamed}, so nobody can tell "
                "how many people there are; fill it in or leave such rows out"
            )
        return int(found["n_people"])


def _rows_of(source: Source) -> exp.Expr:
    """How many rows of the table a group has."""
    if source.histogram is None:
        return exp.Count(this=exp.Star())
    return exp.cast(exp.Sum(this=column("sqlanon_rows")), "bigint")


def _supported(kind: Kind | None, name: str, type_: str) -> Kind:
    if kind is None:
        raise DomainError(
            f"column {name!r} has type {type_}, which cannot be counted; "
            "cast it to text or a number in the source query"
        )
    return kind


def _declaration(quasi: Quasi) -> str:
    if quasi.range is not None:
        low, high = quasi.range
        return f"the declared range [{low}, {high}]"
    if isinstance(quasi.hierarchy, Hierarchy):
        return f"the hierarchy {quasi.hierarchy.origin}"
    return "the declared values"


def _reordered(found: Domain, final: Domain) -> Codes:
    """Atom numbers of `final` by atom number of `found`; they differ in order at most."""
    if isinstance(found, IntervalDomain) or isinstance(final, IntervalDomain):
        return np.arange(found.size, dtype=np.int32)
    atoms = [final.codes[sort_key(v)] for v in found.values]
    return np.array([*atoms, final.width], dtype=np.int32)


def _numbered(table: pa.Table) -> pa.Array:
    """The people who are in several tuples, in order."""
    return _distinct(table["mover"])[0].sort()


def _tally(
    codes: Codes, rows: Ints, table: pa.Table | None = None, movers: pa.Array | None = None
) -> Tally:
    if table is None:
        return Tally(codes, rows, rows, np.full(len(rows), -1, dtype=np.int32))
    from pyarrow.compute import index_in

    found, indices = _distinct(table["mover"])
    # Index -1 (NULL) picks the last entry.
    mover = np.append(numbers_of(index_in(found, movers), null=-1), -1).astype(np.int32)[indices]
    return Tally(codes, rows, np.where(mover < 0, numbers_of(table["n_people"]), 0), mover)


def _facet(encoded: Encoded, tally: Tally) -> Facet:
    assert not isinstance(encoded.domain, IntervalDomain)
    return Facet(encoded.domain, dataclasses.replace(tally, values=encoded.codes))


def _summed(tally: Tally) -> Tally:
    """Adds up entries that agree in codes (and value); only without movers."""
    keys = list(tally.codes.T) if tally.values is None else [*tally.codes.T, tally.values]
    first, number = groups_of(keys)
    rows = np.bincount(number, tally.rows).astype(np.int64)
    order = np.argsort(first)  # as they were fetched
    first, rows = first[order], rows[order]
    values = None if tally.values is None else tally.values[first]
    return Tally(tally.codes[first], rows, rows, np.full(len(rows), -1, dtype=np.int32), values)


MOST_PACKED = 2**62
"""How many combinations of keys are packed into one number."""


def groups_of(keys: Sequence[npt.NDArray[np.integer[Any]]]) -> tuple[Ints, Ints]:
    """The first entry of every group of entries with equal keys, and the group of each entry.

    Groups are in ascending order of their keys.
    """
    packed, size = np.zeros(len(keys[0]), dtype=np.int64), 1
    for key in keys:
        low = int(key.min(initial=0))
        span = int(key.max(initial=0)) - low + 1
        if size * span > MOST_PACKED:
            distinct, packed = np.unique(packed, return_inverse=True)
            size = len(distinct)
        packed, size = packed * span + (key - low), size * span
    _, first, number = np.unique(packed, return_index=True, return_inverse=True)
    return first, number


@dataclass(frozen=True)
class Counted:
    """A column of the source that is counted: its SQL, and its domain where that is declared."""

    name: str
    kind: Kind
    expression: exp.Expr
    domain: Domain | None = None


@dataclass(frozen=True)
class Encoded:
    """A fetched column as atom numbers of its final domain.

    Entries whose value the declared domain does not cover have the code OUTSIDE;
    `uncovered` names such values with their rows, most first.
    """

    domain: Domain
    codes: Codes
    uncovered: tuple[tuple[str, int], ...] = ()


def encode(counted: Counted, fetched: pa.ChunkedArray, rows: Ints) -> Encoded:
    """The codes of a fetched column; `rows` weigh its entries in messages."""
    if isinstance(counted.domain, IntervalDomain):
        return _encode_intervals(counted.domain, fetched)
    values, indices = dictionary(counted, fetched)
    has_null = fetched.null_count > 0
    domain = counted.domain
    if domain is None:
        domain = ValueDomain.observed(counted.name, counted.kind, [*values, *[None] * has_null])
    elif has_null:
        domain = ValueDomain(domain.column, domain.kind, domain.values, has_null=True)
    atoms = [domain.codes.get(sort_key(v), OUTSIDE) for v in values]
    # Index -1 (NULL) picks the last entry.
    table = np.array([*atoms, domain.width], dtype=np.int32)
    codes = table[indices]
    if OUTSIDE not in atoms:
        return Encoded(domain, codes)
    weights = np.bincount(indices + 1, rows, minlength=len(values) + 1)[1:].astype(np.int64)
    outside = [(format_value(v), int(w)) for v, a, w in zip(values, atoms, weights, strict=True)
               if a == OUTSIDE]  # fmt: skip
    return Encoded(domain, codes, tuple(sorted(outside, key=lambda pair: (-pair[1], pair[0]))))


def _encode_intervals(domain: IntervalDomain, fetched: pa.ChunkedArray) -> Encoded:
    if fetched.null_count:
        domain = domain.with_null()
    codes = numbers_of(fetched, null=domain.width).astype(np.int32)
    return Encoded(domain, codes)


def dictionary(counted: Counted, fetched: pa.ChunkedArray) -> tuple[list[Value], Codes]:
    """The distinct values of a column, and for each entry which one it is (-1 for NULL)."""
    found, indices = _distinct(fetched)
    try:
        return [_value(v, counted.kind) for v in found.to_pylist()], indices
    except (OverflowError, ValueError):  # infinity, years before 1 and after 9999
        raise DomainError(
            f"column {counted.name!r}: a {counted.kind} lies outside the years 1 to 9999; "
            "correct it, cast the column to text in the source query, or leave the row out"
        ) from None


def _distinct(fetched: pa.ChunkedArray) -> tuple[pa.Array, Codes]:
    # Not pyarrow.compute.call_function, nor fetched.dictionary_encode(), which imports that module:
    # it wraps every function of Arrow, 30 ms (python -X importtime), more than a small table takes.
    array = call_function("dictionary_encode", [fetched]).combine_chunks()
    return array.dictionary, numbers_of(array.indices, null=-1).astype(np.int32)


def _value(raw: Any, kind: Kind) -> Value:
    if kind is Kind.FLOAT and math.isnan(raw):
        return math.nan
    return parse_value(raw, kind)


def describe_uncovered(name: str, uncovered: Sequence[tuple[str, int]], declared: str) -> str:
    """Says how many values a declared domain lacks, and how many rows have them."""
    rows = sum(count for _, count in uncovered)
    return (
        f"column {name!r}: {amount(rows, 'row')} {'have' if rows != 1 else 'has'} "
        f"{amount(len(uncovered), 'value')} outside {declared}"
    )


OUTSIDE = -1
"""The atom number of a value that a declared range does not cover."""


def column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def interval_atom(domain: IntervalDomain) -> exp.Expr:
    """The number of the interval a cell lies in; NULL for NULL, OUTSIDE off the range."""
    value = column(domain.column)
    low, high = _ends(domain)
    return _case(
        (value.is_(exp.null()), exp.null()),
        (exp.or_(value < low, value > high), exp.Literal.number(OUTSIDE)),
        otherwise=_inside(domain, value),
    )


def clamped_atom(domain: IntervalDomain) -> exp.Expr:
    """The same with the outermost intervals open; OUTSIDE for NaN, which is in no interval."""
    value = column(domain.column)
    low, high = _ends(domain)
    branches: list[tuple[exp.Expr, exp.Expr]] = [(value.is_(exp.null()), exp.null())]
    if domain.kind is Kind.FLOAT:
        branches.append((value > literal(math.inf), exp.Literal.number(OUTSIDE)))
    return _case(
        *branches,
        (value < low, exp.Literal.number(0)),
        (value > high, exp.Literal.number(domain.width - 1)),
        otherwise=_inside(domain, value),
    )


def _ends(domain: IntervalDomain) -> tuple[exp.Expr, exp.Expr]:
    return literal(domain.edges[0]), literal(domain.edges[-1])


def _inside(domain: IntervalDomain, value: exp.Column) -> exp.Expr:
    return _by_division(domain, value) or _by_comparison(domain, value)


def _by_division(domain: IntervalDomain, value: exp.Column) -> exp.Expr | None:
    """The number by integer arithmetic, which is exact; None if that does not apply."""
    starts = domain.edges[:-1]
    if domain.kind is Kind.INTEGER:
        numbers = [int(v) for v in starts if isinstance(v, int)]
        # Wide enough for the difference: 100 - (-100) overflows a column of one byte.
        position: exp.Expr = exp.cast(value.copy(), "bigint") - literal(starts[0])
        safe = abs(numbers[0]) < 2**31 and abs(numbers[-1]) < 2**31
    else:
        # First days of months are counted by their month.
        dates = [v for v in starts if isinstance(v, dt.date) and _starts_month(v)]
        numbers = [12 * v.year + v.month for v in dates]
        year, month = (exp.Extract(this=exp.var(part), expression=value.copy()) for part in _PARTS)
        if len(dates) < len(starts):
            return None
        position = year * exp.Literal.number(12) + month - exp.Literal.number(numbers[0])
        safe = True
    steps = {after - before for before, after in pairwise(numbers)}
    if not safe or len(steps) != 1:
        return None
    step = exp.Literal.number(steps.pop())
    # The last interval is closed: its right end, where the next one would begin, is in it.
    last = (value >= literal(starts[-1]), exp.Literal.number(domain.width - 1))
    return _case(last, otherwise=exp.IntDiv(this=exp.paren(position), expression=step))


_PARTS = ("year", "month")


def _starts_month(value: dt.date) -> bool:
    midnight = not isinstance(value, dt.datetime) or (
        value.time() == dt.time() and value.tzinfo is None
    )
    return value.day == 1 and midnight


def _by_comparison(domain: IntervalDomain, value: exp.Column) -> exp.Expr:
    """The number by a balanced tree of comparisons: exact for every kind, unlike a division."""

    def between(start: int, stop: int) -> exp.Expr:
        if stop - start == 1:
            return exp.Literal.number(start)
        middle = (start + stop) // 2
        below = exp.LT(this=value.copy(), expression=literal(domain.edges[middle]))
        return _case((below, between(start, middle)), otherwise=between(middle, stop))

    return between(0, domain.width)


def _case(*branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr) -> exp.Case:
    """Builds a CASE in one step, because sqlglot's own builder copies the tree at every step.

    A CASE in the ELSE branch continues this one, which reads better than nesting.
    """
    ifs = [exp.If(this=condition, true=result) for condition, result in branches]
    if isinstance(otherwise, exp.Case):
        return exp.Case(ifs=[*ifs, *otherwise.args["ifs"]], default=otherwise.args["default"])
    return exp.Case(ifs=ifs, default=otherwise)
