"""The values of a sensitive column: counted by class and in all, and what the worst class shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sqlanon.audit.cells import (
    MOMENTS,
    NUMBERS,
    Key,
    ascending,
    canonical_text,
    compared,
    fetch,
    key,
    keys_of,
    people,
    person,
)
from sqlanon.audit.class_sizes import Ints
from sqlanon.domain import Hierarchy, format_value
from sqlanon.engines import ColumnInfo, Kind, Source
from sqlanon.errors import CheckError
from sqlanon.privacy import DIGITS, AuditedColumn, Figure, figures


def profile(
    found: pa.Table,
    column: str,
    kind: Kind,
    reference: Reference,
    hierarchy: Hierarchy | None = None,
) -> AuditedColumn:
    """The answer to sql/audit/values_of_classes.sql, beside the whole source."""
    if found.num_rows and not any(reference.counts.values()):
        raise CheckError(f"the reference has no rows, so nothing of {column!r} can be compared")
    import pyarrow.compute as pc  # takes longer to import than a small search

    is_class = pc.equal(found["is_class"], 1)
    classes = found.filter(is_class).sort_by("class")
    pairs = found.filter(pc.invert(is_class))
    encoded = pairs["t"].combine_chunks().dictionary_encode()
    own = [*keys_of(encoded.dictionary.to_pylist(), kind), None]
    codes = _ints(encoded.indices.fill_null(len(own) - 1))
    held = own if encoded.null_count else own[:-1]
    ordered = _one_family(kind, reference.kind)
    keys = ascending({*held, *reference.counts}, kind if ordered else Kind.TEXT)
    number = {each: position for position, each in enumerate(keys)}
    of_value = np.array([number.get(each, -1) for each in own], np.int64)[codes]
    of_class = _ints(pairs["class"]) - 1
    order = np.lexsort((of_value, of_class))
    return AuditedColumn(
        people=_ints(classes["n"]),
        rows=_ints(classes["n_rows"]),
        whole=np.array([reference.counts.get(each, 0) for each in keys], np.int64),
        of_class=of_class[order],
        of_value=of_value[order],
        counts=_ints(pairs["n"])[order],
        is_ordered=ordered and kind.is_ordered,
        hierarchy=hierarchy,
        leaves=np.zeros(0, np.int64)
        if hierarchy is None
        else _leaves(hierarchy, column, kind, keys),
    )


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


def _ints(values: pa.ChunkedArray | pa.Array) -> Ints:
    return np.asarray(values.to_numpy(), np.int64)


@dataclass(frozen=True)
class Reference:
    """People by value, of one column of a table as a whole: what q_v is derived from.

    counts   by key (see verify.keys) how many people have the value in one of their rows; the
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


WHERE_NO_CLASS_IS = {"share": 0.0}
"""Figures of a table without a class, by unit; the others are as bad as can be."""


@dataclass(frozen=True)
class Sensitive:
    """The worst figures of a column's classes, one per `Figure` that a model declares.

    A figure is an attribute: `largest_share`, `fewest_values`, `entropy_l`, `recursive_c` (for
    l = 2), `t_equal`, `t_ordered`, `t_hierarchical`, `beta` and `delta`. NULL is a value. A figure
    that needs an order or a hierarchy of the values has the value None without one. It is infinite
    without a bound: if a class has only one value, or lacks one of the reference.
    """

    column: str
    figures: Mapping[str, float | None]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.figures[name]
        except KeyError:
            raise AttributeError(name) from None

    def stated(self) -> dict[str, float | None]:
        """The figures for JSON, which has no infinity."""
        return {name: finite(value) for name, value in self.figures.items()}

    def add_to(self, document: dict[str, Any]) -> None:
        """Writes the figures into the JSON of a check."""
        stated = self.stated()
        for figure in figures(self.column):
            for *path, last in figure.places:
                section = document
                for step in path:
                    section = section.setdefault(step.format(column=self.column), {})
                section[last.format(column=self.column)] = stated[figure.name]

    def described(self) -> list[tuple[str, str, str]]:
        """The rows of a report: name, figure ("" if missing), meaning."""
        return [
            (each.title, _shown(self.figures[each.name], each.unit), each.meaning)
            for each in figures(self.column)
        ]


def sensitive_figures(column: str, counted: AuditedColumn) -> Sensitive:
    """The figures of one column."""
    return Sensitive(column, {each.name: _worst(each, counted) for each in figures(column)})


def _worst(figure: Figure, counted: AuditedColumn) -> float | None:
    model = figure.model
    if model.needs_order and not counted.is_ordered:
        return None
    if model.needs_hierarchy and counted.hierarchy is None:
        return None
    if not counted.rows.size:
        return WHERE_NO_CLASS_IS.get(figure.unit, model.worst())
    reached = model.audited(counted)
    worst = float(np.min(reached) if model.at_least else np.max(reached))
    if figure.unit == "number":
        return settled(worst)
    return int(worst) if figure.unit == "count" else worst


def settled(value: float) -> float:
    """Rounded for reports; the digits behind depend on the order of a sum."""
    return round(value, DIGITS) + 0.0


def finite(value: float | None) -> float | None:
    """For JSON, which has no infinity."""
    return None if value is None or math.isinf(value) else value


def _shown(value: float | None, unit: str) -> str:
    """For people."""
    if value is None:
        return ""
    if unit == "share":
        return f"{value:.2%}"
    return (
        "unbounded" if math.isinf(value) else f"{value:,.4g}" if unit == "number" else f"{value:,}"
    )
