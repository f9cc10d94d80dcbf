"""Level limits of columns: what they allow, by definition, and what is said of anything else."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scheme_columns import allows, columns, from_bits

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.scheme import Scheme, from_levels
from sqlanon.domain.scheme_json import from_document, to_document
from sqlanon.domain.space import Space
from sqlanon.engines.protocol import Kind
from sqlanon.errors import PolicyError, SchemeError

TREE = Hierarchy.from_rows(
    [["A", "x", "low", "*"], ["B", "x", "low", "*"], ["C", "y", "low", "*"], ["D", "z", "z", "*"]],
    "work.csv",
)


def work(
    low: int = 0,
    high: int | None = None,
    family: Family = Family.CONTIGUOUS,
    *,
    null: bool = False,
    tree: Hierarchy = TREE,
) -> Column:
    domain = ValueDomain("work", Kind.TEXT, tree.leaves, null)
    return Column(domain, tree, family, min_level=low, max_level=high)


def strings(column: Column) -> np.ndarray:
    every = list(product((False, True), repeat=column.positions))
    return np.array(every, dtype=bool).reshape(len(every), column.positions)


def within(column: Column, partition: Partition) -> bool:
    """By the groups: those of min_level lie inside the partition's, and these in max_level's."""

    def group_of(p: Partition) -> list[int]:
        return [g for g, (start, stop) in enumerate(p.runs) for _ in range(start, stop)]

    def inside(fine: Partition, coarse: Partition) -> bool:
        pairs = set(zip(group_of(fine), group_of(coarse), strict=True))
        return len(pairs) == len(fine)

    highest = column.height if column.max_level is None else column.max_level
    return inside(column.levels[column.min_level], partition) and inside(
        partition, column.levels[highest]
    )


@settings(max_examples=150, deadline=None)
@given(columns(limits=True))
def test_the_family_between_two_levels_is_allowed(column: Column) -> None:
    free = replace(column, min_level=0, max_level=None)
    for bits in strings(column):
        partition = Partition.from_bits(bits)
        assert allows(column, partition) == (allows(free, partition) and within(column, partition))
        assert (column.beyond_limits(partition) is None) == within(column, partition)


@settings(max_examples=150, deadline=None)
@given(columns(limits=True))
def test_a_space_imposes_limits_on_bits(column: Column) -> None:
    """What the family has stays in it; what the column allows stays as it is."""
    space, free = Space([column]), replace(column, min_level=0, max_level=None)
    every = strings(column)
    batch = space.batch_of_bits(every)
    for row, bits in enumerate(every):
        given, found = Partition.from_bits(bits), batch.scheme(row).partitions[0]
        assert within(column, found)
        assert column.is_canonical(found)
        if allows(free, given):
            assert allows(column, found)
            assert (found == given) == allows(column, given)


@settings(max_examples=80, deadline=None)
@given(columns(limits=True))
def test_levels_within_the_limits(column: Column) -> None:
    space = Space([column])
    low, high = space.limits[0]
    for level in range(column.height + 1):
        if low <= level <= high:
            scheme = space.batch_of_levels(np.array([[level]])).scheme(0)
            assert scheme == from_levels([column], [level])
            assert from_document(to_document(scheme), [column]) == scheme
        else:
            with pytest.raises(SchemeError, match="levels must lie between"):
                space.batch_of_levels(np.array([[level]]))


def test_a_level_that_repeats_is_written_as_one_within_the_limits() -> None:
    tree = Hierarchy.from_rows([["A", "u", "v", "*"], ["B", "u", "v", "*"]], "tree")
    column = work(1, 1, Family.FULL_DOMAIN, null=True, tree=tree)
    scheme = from_levels([column], [1])
    assert to_document(scheme)["columns"]["work"]["level"] == 1
    assert from_levels([column], [2]) == scheme, "levels 1 and 2 are the same partition"


FINER = (
    "is finer than min_level 1, which has 'A' and 'B' in one group; merge what this level "
    "merges, or change min_level in the policy"
)
COARSER = (
    "is more general than max_level 2, which keeps 'C' and 'D' apart; cut where this level "
    "cuts, or change max_level in the policy"
)


@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"level": 0}, FINER),
        ({"groups": [["A"], ["B", "C"], ["D"]]}, FINER),
        ({"level": 3}, COARSER),
        ({"groups": [["A", "B"], ["C", "D"]]}, COARSER),
    ],
)
def test_a_document_beyond_the_limits_is_refused(
    family: Family, entry: dict[str, Any], words: str
) -> None:
    with pytest.raises(SchemeError) as caught:
        from_document({"columns": {"work": entry}}, [work(1, 2, family)], "s.json")
    assert str(caught.value) == f"s.json: column 'work': its partition {words}"


def test_null_at_a_limit() -> None:
    column = work(0, 2, null=True)
    with pytest.raises(SchemeError, match="'C' and 'D' apart"):
        from_levels([column], [3])
    flat = Column(ValueDomain("c", Kind.TEXT, ("a",), True), max_level=0)
    with pytest.raises(SchemeError, match="keeps 'a' and NULL apart"):
        from_document({"columns": {"c": {"groups": [["a", None]]}}}, [flat])


def test_no_scheme_is_beyond_the_limits() -> None:
    for make in (
        lambda: Scheme((work(1, 2),), (Partition(4, (0, 2)),)),
        lambda: from_levels([work(1, 2)], [0]),
        lambda: from_bits([work(1, 2)], [True, True, True]),
    ):
        with pytest.raises(SchemeError) as caught:
            make()
        assert str(caught.value) == f"column 'work': its partition {FINER}"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (4, None, "min_level 4"),
        (0, 4, "max_level 4"),
        (5, 4, "min_level 5"),
        (0, -1, "max_level -1"),
        (-1, None, "min_level -1"),
    ],
)
def test_levels_that_the_hierarchy_has_not(low: int, high: int | None, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        work(low, high)
    assert str(caught.value) == (
        f"column 'work': {words} is not one of its levels; under the hierarchy work.csv its "
        "height is 3, so give 0 (the values) to 3 (all in one group)"
    )


def test_limits_that_contradict_each_other() -> None:
    with pytest.raises(PolicyError) as caught:
        work(2, 1)
    assert str(caught.value) == (
        "column 'work': min_level 2 is above max_level 1; lower the one or raise the other"
    )


def test_flat_columns_have_two_levels_however_many_values() -> None:
    for values in ("a", "ab"):
        domain = ValueDomain("c", Kind.TEXT, tuple(values))
        assert Column(domain, min_level=1).finest == Partition.whole(len(values))
        assert Column(domain, max_level=0).coarsest == Partition.atoms(len(values))
        with pytest.raises(PolicyError) as caught:
            Column(domain, max_level=2)
        assert str(caught.value) == (
            "column 'c': max_level 2 is not one of its levels; without a hierarchy its height "
            "is 1, so give 0 (the values) to 1 (all in one group)"
        )
