"""Counts the classes of a table with plain GROUP BY, sharing nothing with a search.

Beside them the values of sensitive columns, by class and in all, and on request the smallest
classes themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.audit.audit_result import (
    Audit,
    AuditedModel,
    ClassSize,
    Ints,
    Journalist,
    Matched,
    Spread,
    Uniques,
    journalist,
    sensitive_figures,
    spread_of_people,
    spread_of_rows,
    uniques,
)
from sqlanon.audit.cells import (
    MOMENTS,
    NUMBERS,
    Key,
    ascending,
    canonical_text,
    column,
    compared,
    exact,
    fetch,
    fetch_row,
    key,
    keys_of,
    people,
    person,
)
from sqlanon.domain import Hierarchy, format_value
from sqlanon.engines import ColumnInfo, Kind, Source
from sqlanon.errors import CheckError, EngineError, SubjectError
from sqlanon.privacy import AuditedColumn, Model
from sqlanon.wording import counted


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
        other = Auditor(population.source, auditor.names, population.subject)
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
        """The people of the population in one class, 0 if it has no people."""
        return self._people.get(keys, 0)

    def keys(self, texts: Sequence[Key]) -> tuple[Key, ...]:
        """The keys of a class by the canonical texts of its values."""
        return tuple(key(text, kind) for text, kind in zip(texts, self.kinds, strict=True))


def _keys(found: pa.Table, kinds: Sequence[Kind]) -> list[tuple[Key, ...]]:
    columns = [keys_of(found[f"t{j}"].to_pylist(), kind) for j, kind in enumerate(kinds)]
    return list(zip(*columns, strict=True))


def _ints(values: pa.ChunkedArray | pa.Array) -> Ints:
    return np.asarray(values.to_numpy(), np.int64)


NO_HIERARCHIES: Mapping[str, Hierarchy] = MappingProxyType({})


def audit(
    source: Source,
    quasi: Sequence[str],
    *,
    subject: str | None = None,
    sensitive: Sequence[str] = (),
    threshold: float = 0.2,
    models: Sequence[Model] = (),
    hierarchies: Mapping[str, Hierarchy] = NO_HIERARCHIES,
    reference: Mapping[str, Reference] | None = None,
    population: Population | None = None,
    population_size: int | None = None,
) -> Audit:
    """Counts the classes over `quasi`, in rows and, with a `subject`, in people.

    Rows equal in every column of `quasi` form a class; NULL equals NULL.
    People are the distinct values of `subject`; a person with rows in several classes counts
    in each. A row without a subject is refused with SubjectError. `threshold` is the risk above
    which a record is at risk.

    `models` are measured; requirements decide whether they hold (see audit.requirements). Their
    columns are sensitive. `hierarchies` and `reference`, the values of the whole source, are by
    sensitive column; a column without a reference is compared with the audited table as a whole.
    `population_size` replaces a population that is not available.
    """
    auditor = Auditor(source, quasi, subject)
    if not 0 <= threshold <= 1:
        raise CheckError(f"the threshold is {threshold:g}; give a risk from 0 to 1")
    columns = dict.fromkeys([*sensitive, *(m.column for m in models if m.column is not None)])
    infos = [usable_column(source, name) for name in columns]
    by_rows, by_people = auditor.spreads(threshold)
    spread = by_rows if by_people is None else by_people
    matched = None if population is None else match(auditor, population)
    known = None if matched is None else journalist(matched, spread.total, threshold)
    known_of = reference or {}
    profiles = {
        each.name: auditor.profile(each, known_of.get(each.name), hierarchies.get(each.name))
        for each in infos
    }
    seen = [each.rows for each in profiles.values()]
    seen += [] if matched is None else [matched.rows]
    if any(int(rows.sum()) != by_rows.total for rows in seen):
        raise auditor.changed()
    return Audit(
        auditor.names,
        subject,
        by_rows,
        by_people,
        tuple(sensitive_figures(name, each) for name, each in profiles.items()),
        tuple(_reached(model, profiles, matched) for model in models),
        known,
        _uniques(spread, known, population_size if matched is None else matched.size),
    )


class Auditor:
    """The columns of an audit, checked, and the queries over them."""

    def __init__(self, source: Source, quasi: Sequence[str], subject: str | None) -> None:
        if not quasi:
            raise CheckError("name at least one quasi-identifier: a column that others may know")
        self.source = source
        self.names = tuple(dict.fromkeys(quasi))
        self.infos = [usable_column(source, name) for name in self.names]
        self.quasi = {f"q{j}": compared(info) for j, info in enumerate(self.infos)}
        self.texts = {
            f"t{j}": canonical_text(renamed(info, f"q{j}")) for j, info in enumerate(self.infos)
        }
        self.subject_name = subject
        self.subject = None if subject is None else person(usable_column(source, subject))

    def fetch(self, template: str, **context: object) -> list[dict[str, Any]]:
        """The answer to one of the templates in sql/audit."""
        rows: list[dict[str, Any]] = self.table(template, **context).to_pylist()
        return rows

    def table(self, template: str, **context: object) -> pa.Table:
        """The same as an Arrow table."""
        return fetch(
            self.source.engine,
            self.source.relation,
            template,
            quasi=self.quasi,
            subject=self.subject,
            people=people(self.subject),
            **context,
        )

    def spreads(self, threshold: float) -> tuple[Spread, Spread | None]:
        """The classes by rows, and with a subject by people."""
        rows = None if self.subject_name is None else named_rows(self.source, self.subject_name)
        classes = self.fetch("classes.sql")
        by_rows = spread_of_rows(_sizes(classes, "n_rows"), threshold)
        if rows is not None and rows != by_rows.total:
            raise self.changed()
        return by_rows, None if self.subject is None else self._by_people(classes, threshold)

    def profile(
        self, info: ColumnInfo, reference: Reference | None, hierarchy: Hierarchy | None
    ) -> AuditedColumn:
        """How the values of a sensitive column are spread over the classes."""
        kind = info.kind
        assert kind is not None
        found = self.table(
            "values_of_classes.sql",
            sensitive=compared(info),
            text=canonical_text(renamed(info, "v"), as_double=True),
        )
        whole = reference or reference_of(self.source, info.name, self.subject_name)
        if found.num_rows and not any(whole.counts.values()):
            raise CheckError(
                f"the reference has no rows, so nothing of {info.name!r} can be compared"
            )
        import pyarrow.compute as pc  # takes longer to import than a small search

        is_class = pc.equal(found["is_class"], 1)
        classes = found.filter(is_class).sort_by("class")
        pairs = found.filter(pc.invert(is_class))
        encoded = pairs["t"].combine_chunks().dictionary_encode()
        own = [*keys_of(encoded.dictionary.to_pylist(), kind), None]
        codes = _ints(encoded.indices.fill_null(len(own) - 1))
        held = own if encoded.null_count else own[:-1]
        ordered = _one_family(kind, whole.kind)
        keys = ascending({*held, *whole.counts}, kind if ordered else Kind.TEXT)
        number = {each: position for position, each in enumerate(keys)}
        of_value = np.array([number.get(each, -1) for each in own], np.int64)[codes]
        of_class = _ints(pairs["class"]) - 1
        order = np.lexsort((of_value, of_class))
        return AuditedColumn(
            people=_ints(classes["n"]),
            rows=_ints(classes["n_rows"]),
            whole=np.array([whole.counts.get(each, 0) for each in keys], np.int64),
            of_class=of_class[order],
            of_value=of_value[order],
            counts=_ints(pairs["n"])[order],
            is_ordered=ordered and kind.is_ordered,
            hierarchy=hierarchy,
            leaves=np.zeros(0, np.int64)
            if hierarchy is None
            else _leaves(hierarchy, info.name, kind, keys),
        )

    def _by_people(self, classes: list[dict[str, Any]], threshold: float) -> Spread:
        sizes = _sizes(classes, "n_people")
        smallest = [(each["smallest"], each["n_people"]) for each in self.fetch("people.sql")]
        spread = spread_of_people(sizes, smallest, threshold)
        if min((size for size, _ in smallest), default=0) != spread.k:
            raise self.changed()
        return spread

    def changed(self) -> EngineError:
        return EngineError(f"{self.source.name} changed while it was audited; try again")


def _reached(
    model: Model, profiles: Mapping[str, AuditedColumn], matched: Matched | None
) -> AuditedModel:
    if model.needs_population:
        if matched is None:
            raise CheckError(f"{model.describe()} speaks of a population; give one")
        found = AuditedColumn(matched.people, matched.rows, matched.population)
    elif model.column is None:
        raise CheckError(f"{model.describe()}: name a sensitive column")
    else:
        found = profiles[model.column]
        if model.needs_hierarchy and found.hierarchy is None:
            raise CheckError(f"{model.describe()} needs a hierarchy of {model.column!r}; give one")
    if not found.rows.size:
        return AuditedModel(model, model.worst(), 0, 0, 0)
    reached = model.audited(found)
    missing = model.violated(reached)
    worst = float(reached.min() if model.at_least else reached.max())
    classes, rows, people = (
        int(each.sum()) for each in (missing, found.rows[missing], found.people[missing])
    )
    return AuditedModel(model, worst, classes, rows, people)


def _uniques(spread: Spread, known: Journalist | None, size: int | None) -> Uniques | None:
    """None where the size of the population is not known, or the given one cannot be right.

    A population with fewer people than the table holds not all of them, which unmatched classes
    show; there is nothing to estimate then.
    """
    if size is None or (known is not None and size < spread.total):
        return None
    return uniques(spread, size, None if known is None else known.uniques)


def _sizes(classes: list[dict[str, Any]], unit: str) -> list[ClassSize]:
    """The classes by their size in one unit."""
    numbers: defaultdict[int, int] = defaultdict(int)
    rows: defaultdict[int, int] = defaultdict(int)
    for each in classes:
        numbers[each[unit]] += each["n_classes"]
        rows[each[unit]] += each["n_classes"] * each["n_rows"]
    return [ClassSize(size, numbers[size], rows[size]) for size in sorted(numbers)]


def _leaves(tree: Hierarchy, column: str, kind: Kind, keys: Sequence[Key]) -> Ints:
    """The leaf of every value, -1 for NULL; a value without a leaf is refused."""
    texts = map(format_value, tree.parsed(kind))
    leaves: dict[Key, int] = {key(text, kind): number for number, text in enumerate(texts)}
    leaves[None] = -1
    tree.refuse_without_leaf(column, [str(each) for each in keys if each not in leaves])
    return np.array([leaves[each] for each in keys], np.int64)


def _one_family(one: Kind, other: Kind) -> bool:
    """Whether values of both kinds have a common order that is not that of their texts."""
    return one is other or any({one, other} <= family for family in (NUMBERS, MOMENTS))


@dataclass(frozen=True)
class Reference:
    """People by value, of one column of a table as a whole: what q_v is derived from.

    counts   by key (see cells.keys_of) how many people have the value in one of their rows; the
             number of rows where there is no subject. None is NULL
    """

    column: str
    kind: Kind
    counts: Mapping[Key, int]


def reference_of(source: Source, column: str, subject: str | None = None) -> Reference:
    """Counts a column of a whole table, on its own engine."""
    info = usable_column(source, column)
    assert info.kind is not None
    found = fetch(
        source.engine,
        source.relation,
        "values_of_table.sql",
        value=compared(info),
        text=canonical_text(renamed(info, "v"), as_double=True),
        people=people(None if subject is None else person(usable_column(source, subject))),
    )
    keys = keys_of(found["t"].to_pylist(), info.kind)
    return Reference(column, info.kind, dict(zip(keys, found["n"].to_pylist(), strict=True)))


def usable_column(source: Source, name: str) -> ColumnInfo:
    """A column of a type that can be audited."""
    info = source.column(name)
    if info.kind is None:
        raise CheckError(
            f"column {name!r} has type {info.type}, which cannot be audited; "
            "cast it to text or a number in a query"
        )
    return info


def renamed(info: ColumnInfo, name: str) -> ColumnInfo:
    """The column as a subquery hands it on that has compared its values."""
    return replace(info, name=name)


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
