"""Partitions as cuts, bits and groups. Expected values are written by hand or by brute force."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.column import Partition, null_apart
from sqlanon.errors import SchemeError

bit_lists = st.lists(st.booleans(), max_size=70)


def groups_of(bits: list[bool]) -> list[int]:
    """The group number of each atom, counted cut by cut."""
    groups = [0]
    for bit in bits:
        groups.append(groups[-1] + bit)
    return groups


def test_a_partition_by_hand() -> None:
    partition = Partition(6, (1, 2))
    assert partition.bits.tolist() == [False, True, True, False, False]
    assert partition.runs == ((0, 2), (2, 3), (3, 6))
    assert len(partition) == 3
    assert Partition.from_bits([False, True, True, False, False]) == partition
    assert Partition.from_groups([7, 7, 1, 4, 4, 4]) == partition


def test_extremes() -> None:
    assert Partition.whole(3).runs == ((0, 3),)
    assert Partition.atoms(3).runs == ((0, 1), (1, 2), (2, 3))
    assert Partition.whole(1) == Partition.atoms(1) == Partition.from_bits([])
    assert Partition.whole(1).bits.shape == (0,)
    assert len(Partition.whole(1)) == 1


@given(bit_lists)
def test_bits_groups_and_runs_agree(bits: list[bool]) -> None:
    partition = Partition.from_bits(bits)
    groups = groups_of(bits)
    assert partition.bits.tolist() == bits
    assert partition.bits.dtype == np.bool_
    assert Partition.from_bits(np.array(bits, dtype=bool)) == partition
    assert Partition.from_groups(groups) == partition
    assert len(partition) == groups[-1] + 1
    runs = [list(run) for _, run in groupby(range(len(groups)), key=groups.__getitem__)]
    assert [list(range(*run)) for run in partition.runs] == runs


@pytest.mark.parametrize("groups", [[0, 1, 0], [1, 1, 2, 2, 1], [0, 1, 2, 1]])
def test_groups_are_runs(groups: list[int]) -> None:
    with pytest.raises(SchemeError) as caught:
        Partition.from_groups(groups)
    assert str(caught.value) == "a group is not a run of neighbours in the order of the domain"


@pytest.mark.parametrize(
    ("size", "cuts"), [(3, (2,)), (3, (-1,)), (3, (1, 0)), (3, (1, 1)), (1, (0,)), (0, ())]
)
def test_cuts_are_ascending_positions(size: int, cuts: tuple[int, ...]) -> None:
    with pytest.raises(SchemeError) as caught:
        Partition(size, cuts)
    assert str(caught.value) == f"cuts {list(cuts)} are not ascending positions below {size - 1}"


def test_null_apart() -> None:
    given_bits = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]], dtype=bool)
    before = given_bits.copy()
    settled = null_apart(given_bits)
    assert settled.tolist() == [
        [False, False, False],
        [True, False, True],
        [False, False, True],
        [False, True, True],
        [False, True, True],
    ]
    assert (given_bits == before).all(), "the argument is left as it was"
    assert null_apart(given_bits[1]).tolist() == [True, False, True]
