"""Counting the classes of a table, with plain GROUP BY and nothing shared with a search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlanon.engines import ColumnInfo, Source
from sqlanon.errors import CheckError, EngineError, SubjectError
from sqlanon.model import counted
from sqlanon.render import render
from sqlanon.verify.figures import (
    Audit,
    ClassSize,
    Sensitive,
    Spread,
    spread_of_people,
    spread_of_rows,
)
from sqlanon.verify.values import compared, people, person


def audit(
    source: Source,
    quasi: Sequence[str],
    *,
    subject: str | None = None,
    sensitive: Sequence[str] = (),
    threshold: float = 0.2,
) -> Audit:
    """Counts the classes over `quasi`, in rows and, with a `subject`, in people.

    Rows are of one class if they are equal in every column of `quasi`, where NULL equals NULL.
    People are the distinct values of `subject`; a person with rows in several classes counts
    in each. A row without a subject is refused with SubjectError. `threshold` is the risk above
    which a record is at risk.
    """
    return Auditor(source, quasi, subject).audit(sensitive, threshold)


class Auditor:
    """The columns of an audit, checked, and the queries over them."""

    def __init__(self, source: Source, quasi: Sequence[str], subject: str | None) -> None:
        if not quasi:
            raise CheckError("name at least one quasi-identifier: a column that others may know")
        self.source = source
        self.names = tuple(dict.fromkeys(quasi))
        self.quasi = [self._expression(name) for name in self.names]
        self.subject_name = subject
        self.subject = None if subject is None else person(self._column(subject))

    def audit(self, sensitive: Sequence[str], threshold: float) -> Audit:
        if not 0 <= threshold <= 1:
            raise CheckError(f"the threshold is {threshold:g}; give a risk from 0 to 1")
        columns = {name: self._expression(name) for name in dict.fromkeys(sensitive)}
        rows = None if self.subject_name is None else self._count_rows(self.subject_name)
        classes = self.fetch("classes.sql")
        by_rows = spread_of_rows(_sizes(classes, "n_rows"), threshold)
        if rows is not None and rows != by_rows.total:
            raise self._changed()
        by_people = None if self.subject is None else self._by_people(classes, threshold)
        return Audit(
            self.names,
            self.subject_name,
            by_rows,
            by_people,
            tuple(self._sensitive(name, column) for name, column in columns.items()),
        )

    def fetch(self, template: str, **context: object) -> list[dict[str, Any]]:
        """The answer to one of the templates in sql/verify."""
        engine = self.source.engine
        text = render(
            f"verify/{template}",
            dialect=engine.dialect,
            source=self.source.relation,
            quasi=self.quasi,
            subject=self.subject,
            people=people(self.subject),
            **context,
        )
        rows: list[dict[str, Any]] = engine.fetch(text).to_pylist()
        return rows

    def _expression(self, name: str) -> exp.Expr:
        return compared(self._column(name), self.source.engine.dialect)

    def _column(self, name: str) -> ColumnInfo:
        info = self.source.column(name)
        if info.kind is None:
            raise CheckError(
                f"column {name!r} has type {info.type}, which cannot be audited; "
                "cast it to text or a number in a query"
            )
        return info

    def _count_rows(self, subject: str) -> int:
        """The rows of the table; every one must say whose it is."""
        (found,) = self.fetch("unnamed.sql")
        unnamed = int(found["n_unnamed"])
        if unnamed:
            raise SubjectError(
                f"subject column {subject!r} is NULL in {counted(unnamed, 'row')}, so "
                "nobody can tell how many people there are; fill it in or leave such rows out"
            )
        return int(found["n_rows"])

    def _by_people(self, classes: list[dict[str, Any]], threshold: float) -> Spread:
        sizes = _sizes(classes, "n_people")
        smallest = [(each["smallest"], each["n_people"]) for each in self.fetch("people.sql")]
        spread = spread_of_people(sizes, smallest, threshold)
        if min((size for size, _ in smallest), default=0) != spread.k:
            raise self._changed()
        return spread

    def _sensitive(self, name: str, column: exp.Expr) -> Sensitive:
        found = self.fetch("sensitive.sql", sensitive=column)
        shares = [Fraction(each["largest"], each["size"]) for each in found]
        fewest = min((each["n_values"] for each in found), default=0)
        return Sensitive(name, float(max(shares, default=Fraction(0))), fewest)

    def _changed(self) -> EngineError:
        return EngineError(f"{self.source.name} changed while it was audited; try again")


def _sizes(classes: list[dict[str, Any]], unit: str) -> list[ClassSize]:
    """The classes by their size in one unit."""
    numbers: defaultdict[int, int] = defaultdict(int)
    rows: defaultdict[int, int] = defaultdict(int)
    for each in classes:
        numbers[each[unit]] += each["n_classes"]
        rows[each[unit]] += each["n_classes"] * each["n_rows"]
    return [ClassSize(size, numbers[size], rows[size]) for size in sorted(numbers)]
