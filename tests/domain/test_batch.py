"""Batches of schemes against schemes made one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheme_columns import columns, from_bits, partitions

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.scheme import Scheme, from_levels
from sqlanon.domain.space import Batch, Space
from sqlanon.engines.protocol import Kind
from sqlanon.errors import SchemeError

TREE = Hierarchy.from_rows(
    [["A", "x", "*"], ["B", "x", "*"], ["C", "y", "*"], ["D", "y", "*"]], "tree"
)
WORK = Column(ValueDomain("work", Kind.TEXT, TREE.leaves, has_null=True), TREE)
AGE = Column(IntervalDomain.of_range("age", Kind.INTEGER, 0, 20, 5))
ALONE = Column(ValueDomain("alone", Kind.TEXT, ("only",)))


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    count = draw(st.integers(1, 3))
    return Space([draw(columns(f"c{i}")) for i in range(count)])


def by_hand(space: Space, bits: list[bool]) -> Scheme:
    """One bit string decoded without the package: NULL apart as soon as anything is cut."""
    found, start = [], 0
    for column in space.columns:
        part = bits[start : start + column.domain.size - 1]
        if column.domain.has_null and any(part):
            part[-1] = True
        found.append(Partition(len(part) + 1, tuple(i for i, bit in enumerate(part) if bit)))
        start += len(part)
    return Scheme(space.columns, tuple(found))


def test_a_space_by_hand() -> None:
    space = Space([WORK, ALONE, AGE])
    assert space.positions == 4 + 0 + 3
    assert space.heights == (2, 0, 1)
    assert [space.segment(j) for j in range(3)] == [slice(0, 4), slice(4, 4), slice(4, 7)]


@given(st.data(), st.integers(1, 3))
def test_a_space_that_hides_columns(data: st.DataObject, count: int) -> None:
    """What it has is what the whole space has, but for the columns hidden."""
    space = Space([data.draw(columns(f"c{i}", limits=True)) for i in range(count)])
    hidden = data.draw(st.sets(st.integers(0, count - 1)))
    strings = st.lists(st.booleans(), min_size=space.positions, max_size=space.positions)
    bits = np.array([data.draw(strings) for _ in range(3)], dtype=bool)
    part = space.hiding(hidden)
    few, whole = part.batch_of_bits(bits), space.batch_of_bits(bits)
    for row in range(3):
        expected = list(whole.scheme(row).partitions)
        for j in hidden:
            expected[j] = space.columns[j].coarsest
        assert list(few.scheme(row).partitions) == expected
        assert Batch(space, few.ids).scheme(row).partitions == tuple(expected)


@given(st.data(), spaces(), st.integers(0, 5))
def test_bits(data: st.DataObject, space: Space, count: int) -> None:
    strings = st.lists(st.booleans(), min_size=space.positions, max_size=space.positions)
    rows = [data.draw(strings) for _ in range(count)]
    batch = space.batch_of_bits(np.array(rows, dtype=bool).reshape(count, space.positions))
    expected = [by_hand(space, row) for row in rows]
    assert len(batch) == count
    assert [batch.scheme(i) for i in range(count)] == expected
    assert [from_bits(space.columns, row) for row in rows] == expected
    assert (space.batch(expected).ids == batch.ids).all()
    assert [batch.fingerprint(i) for i in range(count)] == [s.fingerprint for s in expected]
    for (a, left), (b, right) in product(enumerate(expected), repeat=2):
        assert (batch.keys[a] == batch.keys[b]) == (left == right)
        assert (left.fingerprint == right.fingerprint) == (left == right)


@given(spaces())
@settings(max_examples=50)
def test_levels(space: Space) -> None:
    nodes = list(product(*(range(height + 1) for height in space.heights)))
    batch = space.batch_of_levels(np.array(nodes))
    for row, node in enumerate(nodes):
        expected = Scheme(
            space.columns, tuple(c.levels[n] for c, n in zip(space.columns, node, strict=True))
        )
        assert batch.scheme(row) == expected == from_levels(space.columns, node)
        assert batch.fingerprint(row) == expected.fingerprint


@given(st.data(), spaces())
def test_schemes_read_back(data: st.DataObject, space: Space) -> None:
    drawn = [
        Scheme(space.columns, tuple(data.draw(partitions(column)) for column in space.columns))
        for _ in range(3)
    ]
    batch = space.batch(drawn)
    assert [batch.scheme(i) for i in range(3)] == drawn
    assert batch.take([2, 0, 2]).ids.tolist() == [batch.ids[i].tolist() for i in (2, 0, 2)]
    for scheme in drawn:
        bits = [bit for partition in scheme.partitions for bit in partition.bits]
        assert scheme.bits.tolist() == bits


def test_null_follows_the_other_cuts() -> None:
    space = Space([WORK])
    # Strings over A|B|C|D|NULL: the last bit is the cut before NULL.
    batch = space.batch_of_bits(np.array([[0, 1, 0, 0], [0, 1, 0, 1], [0] * 4, [0, 0, 0, 1]], bool))
    cuts = [batch.scheme(i)["work"].cuts for i in range(4)]
    assert cuts == [(1, 3), (1, 3), (), (3,)]
    assert batch.ids[0, 0] == batch.ids[1, 0]
    assert batch.fingerprint(0) == batch.fingerprint(1)
    assert batch.keys[0] == batch.keys[1]
    levels = space.batch_of_levels(np.array([[1], [2]]))
    assert levels.ids.tolist() == [[batch.ids[0, 0]], [batch.ids[2, 0]]]


def test_ids_are_shared_within_a_space() -> None:
    space = Space([AGE, WORK])
    first = space.batch_of_bits(np.eye(7, dtype=bool))
    again = space.batch_of_bits(np.eye(7, dtype=bool)[::-1])
    assert first.keys == again.keys[::-1]
    assert len(space.tables[0]) == 5, "three single cuts, the whole and the atoms"


def test_fingerprints_know_where_columns_end() -> None:
    """8 + 16 and 16 + 8 bits without a cut are the same bytes, but not the same scheme."""
    short, long = (Column(ValueDomain("c", Kind.INTEGER, tuple(range(n)))) for n in (9, 17))
    fingerprints = {
        from_levels(pair, [1, 1]).fingerprint for pair in ((short, long), (long, short))
    }
    assert len(fingerprints) == 2


def test_columns_without_positions() -> None:
    null_only = Column(ValueDomain("null", Kind.TEXT, (), has_null=True))
    space = Space([ALONE, null_only])
    assert (space.positions, space.heights) == (0, (0, 0))
    expected = Scheme(space.columns, (Partition.whole(1), Partition.whole(1)))
    for batch in (
        space.batch_of_bits(np.zeros((2, 0), bool)),
        space.batch_of_levels(np.zeros((2, 2), int)),
        space.batch([expected, expected]),
    ):
        assert len(batch) == 2
        assert batch.scheme(1) == expected
        assert batch.fingerprint(0) == expected.fingerprint
        assert batch.keys[0] == batch.keys[1]
        assert space.tables[0].bits(batch.ids[:, 0]).shape == (2, 0)


@pytest.mark.parametrize("width", [63, 64, 65, 66, 128, 129, 1000])
@pytest.mark.parametrize("null", [False, True])
def test_wide_domains(width: int, null: bool) -> None:
    """One cut at each place in turn, across the borders of bytes and words."""
    wide = Column(ValueDomain("wide", Kind.INTEGER, tuple(range(width)), null))
    space = Space([wide, AGE])
    positions = width - 1 + null
    bits = np.zeros((positions, positions + 3), dtype=bool)
    bits[np.arange(positions), np.arange(positions)] = True
    batch = space.batch_of_bits(bits)
    assert len(set(batch.keys)) == positions
    last = {positions - 1} if null else set()
    for place in {0, 7, 8, 61, 62, 63, 64, positions - 1} & set(range(positions)):
        assert batch.scheme(place)["wide"].cuts == tuple(sorted({place} | last))
        assert batch.scheme(place)["age"].cuts == ()
        assert batch.fingerprint(place) == batch.scheme(place).fingerprint


def test_empty_batches() -> None:
    space = Space([AGE, WORK])
    for batch in (
        space.batch([]),
        space.batch_of_bits(np.zeros((0, 7), bool)),
        space.batch_of_levels(np.zeros((0, 2), int)),
        space.batch_of_bits(np.zeros((3, 7), bool)).take([]),
    ):
        assert len(batch) == 0
        assert batch.keys == []
        assert batch.ids.shape == (0, 2)


@pytest.mark.parametrize("shape", [(7,), (2, 6), (2, 8), (1, 1, 7)])
def test_bits_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(SchemeError) as caught:
        Space([AGE, WORK]).batch_of_bits(np.zeros(shape, bool))
    assert str(caught.value) == "bit strings of 7 bits are needed, one a row"


@pytest.mark.parametrize("shape", [(2,), (2, 1), (2, 3)])
def test_levels_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(SchemeError) as caught:
        Space([AGE, WORK]).batch_of_levels(np.zeros(shape, int))
    assert str(caught.value) == "nodes of 2 levels are needed, one a row"


@pytest.mark.parametrize("node", [(2, 0), (0, 3), (-1, 0)])
def test_levels_off_the_lattice(node: tuple[int, int]) -> None:
    with pytest.raises(SchemeError) as caught:
        Space([AGE, WORK]).batch_of_levels(np.array([(1, 2), node]))
    assert str(caught.value) == "levels must lie between [0, 0] and [1, 2]"


def test_schemes_of_other_columns() -> None:
    other = Column(IntervalDomain.of_range("age", Kind.INTEGER, 0, 25, 5))
    scheme = Scheme((other,), (Partition.whole(5),))
    with pytest.raises(SchemeError) as caught:
        Space([AGE]).batch([scheme])
    assert str(caught.value) == "the scheme was made for other columns or domains"
