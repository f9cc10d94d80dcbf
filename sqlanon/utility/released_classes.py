"""The classes of a release, counted on the rows that its SELECT yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlanon.counting import Counted, encode
from sqlanon.domain import Codes, Generalized, Ints, Output, Scheme, Unseen
from sqlanon.engines import Engine
from sqlanon.errors import EngineError
from sqlanon.release import Order, compile_classes, keeps_values

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ReleasedClasses:
    """The released classes with their rows.

    groups  a row per class, a column per quasi-identifier in the order of the scheme: the number
            of the group. The number after the last group is the whole domain, for the marker of
            suppressed rows
    """

    scheme: Scheme
    groups: Codes
    rows: Ints

    @property
    def is_marked(self) -> Flags:
        """Which classes are rows with the marker."""
        whole = np.array([len(p) for p in self.scheme.partitions], dtype=np.int32)
        return np.asarray((self.groups == whole).any(axis=1))

    def hold(self, codes: Codes) -> Flags:
        """Which atom tuples are released with their groups, neither left out nor marked."""
        wanted = generalized(self.scheme, codes)
        released = self.groups[~self.is_marked]
        _, number = np.unique(np.concatenate([released, wanted]), axis=0, return_inverse=True)
        number = number.reshape(-1)
        return np.isin(number[len(released) :], number[: len(released)])


def generalized(scheme: Scheme, codes: Codes) -> Codes:
    """Atom tuples as tuples of group numbers."""
    columns = [
        np.searchsorted([stop for _, stop in partition.runs], codes[:, j], side="right")
        for j, partition in enumerate(scheme.partitions)
    ]
    return np.column_stack(columns).astype(np.int32)


def by_labels(recipe: Order) -> Order:
    """The recipe with every group written by its label, which identifies the group."""
    items = tuple(
        replace(item, output=Output.LABEL) if isinstance(item, Generalized) else item
        for item in recipe.items
    )
    return replace(recipe, items=items, unseen=Unseen.ERROR, header=())


def released_classes(
    engine: Engine, recipe: Order, scheme: Scheme, *, guarded: bool = False
) -> ReleasedClasses:
    """Counts the classes of a release of this recipe without building it.

    The scheme must cover the values of the source. `guarded` as for `compile_release`.
    """
    labelled = by_labels(replace(recipe, items=recipe.generalized))
    query = compile_classes(labelled, guarded=guarded)
    *fetched, counted = engine.fetch(query).columns
    rows = np.asarray(counted.cast(pa.int64()), dtype=np.int64)
    if not len(rows):
        return ReleasedClasses(scheme, np.empty((0, len(fetched)), dtype=np.int32), rows)
    pairs = zip(labelled.generalized, fetched, strict=True)
    items = {item.name: (item, column) for item, column in pairs}
    groups = [_groups(*items[column.name], labelled, rows) for column in scheme.columns]
    order = np.lexsort(groups[::-1])
    codes = np.column_stack(groups)[order].astype(np.int32)
    return ReleasedClasses(scheme, np.asfortranarray(codes), rows[order])


def groups_by_label(item: Generalized, recipe: Order) -> list[tuple[object, int, int, int]]:
    """Label, number, first atom and size of each group; last the marker, if rows may have it."""
    labels: Sequence[object] = [label for (label,) in item.cells]
    runs = item.runs
    found = [
        (label, number, start, stop - start)
        for number, (label, (start, stop)) in enumerate(zip(labels, runs, strict=True))
    ]
    if recipe.suppress and recipe.marker is not None and recipe.marker not in labels:
        found.append((recipe.marker, len(runs), 0, item.column.size))
    return found


def _groups(item: Generalized, fetched: pa.ChunkedArray, recipe: Order, rows: Ints) -> Codes:
    """The fetched cells of a column as numbers of groups."""
    if keeps_values(item, recipe):  # every atom is a group
        domain = item.column.domain
        known = Counted(item.name, domain.kind, exp.column(item.name), domain)
        codes = encode(known, fetched, rows).codes
    else:
        numbers = {label: number for label, number, _, _ in groups_by_label(item, recipe)}
        encoded = pc.dictionary_encode(fetched, null_encoding="encode").combine_chunks()
        listed = encoded.dictionary.to_pylist()
        table = np.array([numbers.get(label, -1) for label in listed], dtype=np.int32)
        codes = table[np.asarray(encoded.indices, dtype=np.int32)]
    if (codes < 0).any():
        raise EngineError(
            f"column {item.name!r} holds values that the scheme does not cover; the source changed "
            "while it was read, so try again"
        )
    return codes
