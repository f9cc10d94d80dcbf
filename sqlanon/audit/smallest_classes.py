"""The values behind an audit, for those who ask for them expressly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.audit.auditor import Auditor, Finder, Population
from sqlanon.audit.cells import column, exact
from sqlanon.engines import Source

LIMIT = 10
"""Classes and rows that are shown."""


@dataclass(frozen=True)
class ListedClass:
    """A class with the text of its values, None for NULL, and its people of a population."""

    values: dict[str, str | None]
    rows: int
    people: int
    population: int | None = None

    @property
    def journalist_risk(self) -> float | None:
        """1 / people of the population in the class; 1 if no one is in it."""
        return None if self.population is None else 1 / max(1, self.population)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {"rows": self.rows, "people": self.people}
        if self.population is not None:
            document["population"] = self.population
            document["journalist_risk"] = self.journalist_risk
        return document | {"values": self.values}


@dataclass(frozen=True)
class Listing:
    """The smallest classes of a table, and some of their rows with all columns.

    This is the only part of an audit that holds values of the table.
    """

    classes: tuple[ListedClass, ...]
    samples: tuple[dict[str, str | None], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "smallest": [each.to_dict() for each in self.classes],
            "samples": list(self.samples),
        }


def smallest_classes(
    source: Source,
    quasi: Sequence[str],
    *,
    subject: str | None = None,
    limit: int = LIMIT,
    population: Population | None = None,
) -> Listing:
    """The smallest classes, and up to as many rows of them; the order is always the same."""
    auditor = Auditor(source, quasi, subject)
    finder = None if population is None else Finder(auditor, population)
    names = [info.name for info in source.columns]
    texts_of_rows = {f"t{j}": exp.cast(column(name), "text") for j, name in enumerate(names)}
    classes = []
    for each in auditor.fetch("smallest.sql", texts=auditor.texts, limit=limit):
        texts = [each[f"t{j}"] for j in range(len(auditor.names))]
        fitting = None if finder is None else finder.people(finder.keys(texts))
        values = dict(zip(auditor.names, texts, strict=True))
        classes.append(ListedClass(values, each["n_rows"], each["n_people"], fitting))
    pairs = zip(auditor.quasi, auditor.texts.values(), strict=True)
    is_member = exp.and_(*(each for name, text in pairs for each in _agreeing(name, text)))
    samples = auditor.fetch("samples.sql", texts=texts_of_rows, is_member=is_member, limit=limit)
    return Listing(
        tuple(classes),
        tuple({name: each[f"t{j}"] for j, name in enumerate(names)} for each in samples),
    )


def _agreeing(name: str, text: exp.Expr) -> list[exp.Expr]:
    """What is true where a row and a class agree in a column, by its canonical text.

    NULL agrees with NULL. Both conditions are equalities of what cannot be NULL: PostgreSQL
    compares row by row for IS NOT DISTINCT FROM.
    """
    filled, flags = [], []
    for table in ("members", "classes"):
        value = text.copy()
        for found in value.find_all(exp.Column):
            found.set("table", exp.to_identifier(table))
        empty = exp.Literal.string("")
        filled.append(exact(exp.Coalesce(this=value, expressions=[empty])))
        is_null = exp.column(name, table=table, quoted=True).is_(exp.null())
        one = exp.If(this=is_null, true=exp.Literal.number(1))
        flags.append(exp.Case(ifs=[one], default=exp.Literal.number(0)))
    return [exp.EQ(this=one, expression=other) for one, other in (filled, flags)]
