"""Whose the rows of a table are, and how many people that makes."""

from __future__ import annotations

from typing import Any

from sqlanon.engines import Source
from sqlanon.errors import SubjectError
from sqlanon.model import counted
from sqlanon.render import render
from sqlanon.verify.reference import usable_column
from sqlanon.verify.values import people, person


def named_rows(source: Source, subject: str) -> int:
    """The rows of a table; every one must say whose it is."""
    found = _fetch(source, "unnamed.sql", subject=person(usable_column(source, subject)))
    unnamed = int(found["n_unnamed"])
    if unnamed:
        raise SubjectError(
            f"subject column {subject!r} is NULL in {counted(unnamed, 'row')}, so "
            "nobody can tell how many people there are; fill it in or leave such rows out"
        )
    return int(found["n_rows"])


def people_of(source: Source, subject: str | None) -> int:
    """All people of a table: distinct subjects, of whom every row must have one, or rows."""
    who = None
    if subject is not None:
        named_rows(source, subject)
        who = person(usable_column(source, subject))
    return int(_fetch(source, "all_people.sql", people=people(who))["n_people"])


def _fetch(source: Source, template: str, **context: object) -> dict[str, Any]:
    """The only row of the answer to one of the templates in sql/verify."""
    engine = source.engine
    query = render(f"verify/{template}", dialect=engine.dialect, source=source.relation, **context)
    (row,) = engine.fetch(query).to_pylist()
    found: dict[str, Any] = row
    return found
