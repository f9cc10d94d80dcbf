"""Whose the rows of a table are, and the people of a population who fit its classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sqlanon.audit.cells import NUMBERS, Key, key, keys_of, people, person
from sqlanon.audit.queries import fetch_row
from sqlanon.audit.sensitive_values import Ints, usable_column
from sqlanon.engines import Kind, Source
from sqlanon.errors import SubjectError
from sqlanon.wording import counted

if TYPE_CHECKING:
    from sqlanon.audit.auditor import Auditor


def named_rows(source: Source, subject: str) -> int:
    """The rows of a table; every one must say whose it is."""
    who = person(usable_column(source, subject))
    found = fetch_row(source.engine, source.relation, "unnamed.sql", subject=who)
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
    found = fetch_row(source.engine, source.relation, "all_people.sql", people=people(who))
    return int(found["n_people"])


@dataclass(frozen=True)
class Population:
    """A table of people that another one is a sample of, generalized as that one is.

    It has the same quasi-identifiers, and the same texts for the same groups. People are the
    distinct values of `subject`, or the rows. `whole` is the population that it comes from, not
    generalized, where those who fit no group are left out of it: they too are of the population.
    """

    source: Source
    subject: str | None = None
    whole: Population | None = None


@dataclass(frozen=True)
class Matched:
    """By class of the audited table its rows, its people, and people of the population.

    `size` is the number of people in the whole population.
    """

    rows: Ints
    people: Ints
    population: Ints
    size: int


def match(auditor: Auditor, population: Population) -> Matched:
    """The classes of an audited table beside those of a population."""
    finder = Finder(auditor, population)
    found = auditor.table("labelled_classes.sql", texts=auditor.texts)
    classes = _keys(found, finder.kinds)
    fitting = [finder.people(each) for each in classes]
    return Matched(
        _ints(found["n_rows"]), _ints(found["n_people"]), np.array(fitting, np.int64), finder.size
    )


class Finder:
    """Looks classes up in a population.

    A column that holds numbers in both tables is compared by numbers, every other one by its text:
    a CSV file's 1.0 is the 1.0 of a table and not its 1.
    """

    def __init__(self, auditor: Auditor, population: Population) -> None:
        other = type(auditor)(population.source, auditor.names, population.subject)
        whole = population.whole or population
        self.size = people_of(whole.source, whole.subject)
        pairs = zip(auditor.infos, other.infos, strict=True)
        numbers = [{one.kind, two.kind} <= NUMBERS for one, two in pairs]
        self.kinds = [Kind.DECIMAL if each else Kind.TEXT for each in numbers]
        found = other.table("labelled_classes.sql", texts=other.texts)
        numbers_of = found["n_people"].to_pylist()
        self._people: dict[tuple[Key, ...], int] = dict(
            zip(_keys(found, self.kinds), numbers_of, strict=True)
        )

    def people(self, keys: tuple[Key, ...]) -> int:
        """The people of the population in one class; 0 where there is none."""
        return self._people.get(keys, 0)

    def keys(self, texts: Sequence[Key]) -> tuple[Key, ...]:
        """The keys of a class by the canonical texts of its values."""
        return tuple(key(text, kind) for text, kind in zip(texts, self.kinds, strict=True))


def _keys(found: pa.Table, kinds: Sequence[Kind]) -> list[tuple[Key, ...]]:
    columns = [keys_of(found[f"t{j}"].to_pylist(), kind) for j, kind in enumerate(kinds)]
    return list(zip(*columns, strict=True))


def _ints(values: pa.ChunkedArray) -> Ints:
    return np.asarray(values.to_numpy(), np.int64)
