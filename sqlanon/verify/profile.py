"""How the values of one sensitive column are spread over the classes of a table, as counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sqlanon.errors import CheckError
from sqlanon.hierarchy import Hierarchy
from sqlanon.model import Kind, format_value
from sqlanon.verify.keys import MOMENTS, NUMBERS, Key, ascending, key, keys_of
from sqlanon.verify.reference import Reference

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Profile:
    """The people of every class by value, and of the reference by value.

    keys       the values of the reference and the table, ascending, NULL last
    whole      by value, people of the reference
    of_class   of every pair of a class and a value that it has, the number of the class;
    of_value   the number of the value, ascending within the class;
    counts     and how many people of the class have it: c_v
    people     by class, its people, who may have several values each
    rows       by class, its rows
    """

    column: str
    kind: Kind
    keys: Sequence[Key]
    whole: Ints
    of_class: Ints
    of_value: Ints
    counts: Ints
    people: Ints
    rows: Ints
    is_ordered: bool
    hierarchy: Hierarchy | None = None

    @cached_property
    def starts(self) -> Ints:
        """Where the pairs of each class begin; every class has one."""
        return np.flatnonzero(np.diff(self.of_class, prepend=-1))

    @cached_property
    def n(self) -> Ints:
        """By class, Σ c_v."""
        return self.summed(self.counts)

    @property
    def total(self) -> int:
        """Σ over the values of the reference."""
        return int(self.whole.sum())

    def summed(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """By class, the sum over its pairs."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def largest(self, values: Floats) -> Floats:
        """By class, the maximum over its pairs."""
        return np.asarray(np.maximum.reduceat(values, self.starts))

    def groups(self, level: int) -> Ints:
        """The group of every value on a level of the hierarchy; NULL is one of its own."""
        assert self.hierarchy is not None
        found = np.asarray([*self.hierarchy.groups(level), -1])
        return found[self._leaves]

    @cached_property
    def _leaves(self) -> Ints:
        """The leaf of every value, -1 for NULL; a value without a leaf is refused."""
        tree = self.hierarchy
        assert tree is not None
        texts = map(format_value, tree.parsed(self.kind))
        leaves = {key(text, self.kind): number for number, text in enumerate(texts)}
        leaves[None] = -1
        missing = [str(each) for each in self.keys if each not in leaves]
        tree.refuse_without_leaf(self.column, missing)
        return np.array([leaves[each] for each in self.keys], np.int64)


def profile(
    found: pa.Table,
    column: str,
    kind: Kind,
    reference: Reference,
    hierarchy: Hierarchy | None = None,
) -> Profile:
    """The answer to sql/verify/values_of_classes.sql, beside the whole source."""
    if found.num_rows and not any(reference.counts.values()):
        raise CheckError(f"the reference has no rows, so nothing of {column!r} can be compared")
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
    return Profile(
        column,
        kind,
        keys,
        np.array([reference.counts.get(each, 0) for each in keys], np.int64),
        of_class[order],
        of_value[order],
        _ints(pairs["n"])[order],
        _ints(classes["n"]),
        _ints(classes["n_rows"]),
        ordered and kind.is_ordered,
        hierarchy,
    )


def _one_family(one: Kind, other: Kind) -> bool:
    """Whether values of both kinds have a common order that is not that of their texts."""
    return one is other or any({one, other} <= family for family in (NUMBERS, MOMENTS))


def _ints(values: pa.ChunkedArray | pa.Array) -> Ints:
    return np.asarray(values.to_numpy(), np.int64)
