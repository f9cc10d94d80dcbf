"""How groups are written. Expected values are written by hand; distinctness is a property."""

from __future__ import annotations

import datetime as dt
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scheme_columns import bit_strings, columns, partitions, trees

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_builders import dates, intervals
from sqlanon.domain.presentation import group_labels
from sqlanon.domain.values import Value
from sqlanon.engines.protocol import Kind

Rows = list[list[str]]


def text_labels(
    values: list[str], cuts: tuple[int, ...], *, null: bool = False
) -> list[str | None]:
    column = Column(ValueDomain("c", Kind.TEXT, tuple(values), null))
    return list(group_labels(column, Partition(len(values) + null, cuts)))


def tree_labels(rows: Rows, cuts: tuple[int, ...], *, null: bool = False) -> list[str | None]:
    tree = Hierarchy.from_rows(rows, "tree")
    column = Column(ValueDomain("c", Kind.TEXT, tree.leaves, null), tree)
    return list(group_labels(column, Partition(len(rows) + null, cuts)))


def test_intervals_of_a_range() -> None:
    column = Column(IntervalDomain.of_range("age", Kind.INTEGER, 0, 90, 5))
    # Cuts before 25 (atom 5), 40 (atom 8) and 60 (atom 12).
    assert group_labels(column, Partition(18, (4, 7, 11))) == (
        "[0, 25)", "[25, 40)", "[40, 60)", "[60, 90]",
    )  # fmt: skip
    atoms = group_labels(column, Partition.atoms(18))
    assert (atoms[0], atoms[1], atoms[-1]) == ("[0, 5)", "[5, 10)", "[85, 90]")
    assert group_labels(column, Partition.whole(18)) == ("*",)


def test_calendar_names_of_a_range_are_true_of_whole_intervals() -> None:
    """By hand: only an interval that ends before its month does is called by the month."""
    low, high = dt.date(1969, 12, 1), dt.date(1970, 2, 15)
    domain = IntervalDomain.of_range("born", Kind.DATE, low, high, 31)
    # [1969-12-01, 1970-01-01), [1970-01-01, 1970-02-01), [1970-02-01, 1970-02-15]
    column = Column(domain, dates(domain.left_ends, ["month", "year"]), min_level=1)
    assert group_labels(column, Partition.atoms(3)) == ("1969-12", "1970-01", "1970-02")

    low, high = dt.date(1969, 12, 31), dt.date(1985, 6, 1)
    decades = IntervalDomain.of_range("born", Kind.DATE, low, high, "decade")
    column = Column(decades, dates(decades.left_ends, ["month", "year"]), min_level=1)
    assert group_labels(column, Partition.atoms(2)) == (
        "[1969-12-31, 1979-12-31)", "[1979-12-31, 1985-06-01]",
    )  # fmt: skip

    # 1971-01-01 itself, the closed end of the range, is not in 1970.
    low, high = dt.date(1969, 1, 1), dt.date(1971, 1, 1)
    years = IntervalDomain.of_range("born", Kind.DATE, low, high, "year")
    column = Column(years, dates(years.left_ends, ["year"]), min_level=1)
    assert group_labels(column, Partition.atoms(2)) == ("1969", "[1970-01-01, 1971-01-01]")


def test_intervals_of_values() -> None:
    column = Column(ValueDomain("age", Kind.INTEGER, (17, 25, 40, 60, 90), True))
    assert group_labels(column, Partition(6, (0, 2, 4))) == ("17", "[25, 60)", "[60, 90]", None)
    assert group_labels(column, Partition(6, (4,))) == ("[17, 90]", None)
    assert group_labels(column, Partition(6, ())) == ("*",)


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (Kind.FLOAT, (-math.inf, 0.0, 2.5, math.nan), ("[-inf, 2.5)", "2.5+ or NaN")),
        (Kind.DATE, tuple(dt.date(2024, m, 1) for m in (1, 2, 3, 4)),
         ("[2024-01-01, 2024-03-01)", "[2024-03-01, 2024-04-01]")),
        (Kind.TIMESTAMP, tuple(dt.datetime(2024, m, 1) for m in (1, 2, 3, 4)),
         ("[2024-01-01, 2024-03-01)", "[2024-03-01, 2024-04-01]")),
        (Kind.TIMESTAMP, tuple(dt.datetime(2024, 1, 1, h) for h in (0, 1, 2, 3)),
         ("[2024-01-01 00:00:00, 2024-01-01 02:00:00)",
          "[2024-01-01 02:00:00, 2024-01-01 03:00:00]")),
        (Kind.INTEGER, (4, 1, 3, 2), ("{4, 1}", "{3, 2}")),
    ],
)  # fmt: skip
def test_kinds(kind: Kind, values: tuple[Value, ...], expected: tuple[str, ...]) -> None:
    assert group_labels(Column(ValueDomain("c", kind, values)), Partition(4, (1,))) == expected


def test_booleans() -> None:
    column = Column(ValueDomain("c", Kind.BOOLEAN, (False, True), True))
    assert group_labels(column, Partition(3, (1,))) == ("{false, true}", None)
    assert group_labels(column, Partition(3, (0, 1))) == ("false", "true", None)


def test_sets_of_text() -> None:
    assert text_labels(["A", "B", "C"], (1,)) == ["{A, B}", "C"]
    assert text_labels(["A", "B", "C"], ()) == ["*"]
    assert text_labels(["A", "B"], (1,), null=True) == ["{A, B}", None]
    assert text_labels(["A", "B"], (), null=True) == ["*"]
    assert text_labels([], (), null=True) == [None]
    assert text_labels(["A"], ()) == ["A"]
    assert text_labels(["A"], (), null=True) == ["*"]
    assert text_labels([""], ()) == [""]


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (["New York", "L'Aquila"], "{New York, L'Aquila}"),
        (["a, b", "c"], '{"a, b", c}'),
        (["", "c"], '{"", c}'),
        ([" a", "c "], '{" a", "c "}'),
        (['say "hi"', "c"], '{"say ""hi""", c}'),
        (["{a", "b}"], '{"{a", "b}"}'),
    ],
)
def test_awkward_values_are_quoted(values: list[str], label: str) -> None:
    assert text_labels([*values, "z"], (1,)) == [label, "z"]


TREE = [["A", "X", "root"], ["B", "X", "root"], ["C", "Y", "root"], ["D", "Y", "root"]]


def test_node_names() -> None:
    assert tree_labels(TREE, (1,)) == ["X", "Y"]
    assert tree_labels(TREE, (0, 1)) == ["A", "B", "Y"]
    assert tree_labels(TREE, (2,)) == ["{A, B, C}", "D"]
    assert tree_labels(TREE, ()) == ["root"]
    assert tree_labels(TREE, (3,), null=True) == ["root", None]
    assert tree_labels(TREE, (), null=True) == ["root"]


def test_the_whole_with_null_is_never_named_after_the_values_alone() -> None:
    rows = [["A", "both", "*"], ["B", "both", "*"]]
    assert tree_labels(rows, ()) == ["both"]
    assert tree_labels(rows, (1,), null=True) == ["both", None]
    assert tree_labels(rows, (), null=True) == ["*"]
    assert tree_labels([["A", "any"]], (), null=True) == ["any"]
    assert tree_labels([["A"]], (), null=True) == ["*"], "not 'A': NULL is in it"
    assert tree_labels([["A"]], (0,), null=True) == ["A", None]


def test_names_of_intervals() -> None:
    tree = Hierarchy.from_rows([["0", "low", "*"], ["5", "low", "*"], ["9", "9", "*"]], "tree")
    column = Column(IntervalDomain("c", Kind.INTEGER, (0, 5, 9, 12)), tree)
    assert group_labels(column, Partition(3, (1,))) == ("low", "[9, 12]")
    assert group_labels(column, Partition(3, (0,))) == ("[0, 5)", "[5, 12]")


def test_a_value_that_looks_like_a_set() -> None:
    assert text_labels(["A", "B", "{A, B}"], (1,)) == ["{A, B}", '{"{A, B}"}']


def test_a_node_with_the_name_of_another_leaf() -> None:
    rows = [["A", "n", "*"], ["B", "n", "*"], ["n", "m", "*"], ["C", "m", "*"]]
    assert tree_labels(rows, (1, 2)) == ["{A, B}", "{n}", "C"]
    assert tree_labels(rows, (1,)) == ["n", "m"]


def test_a_clash_that_makes_another_clash() -> None:
    rows = [["A", "n", "*"], ["B", "n", "*"], ["n", "m", "*"], ["{A, B}", "m", "*"]]
    assert tree_labels(rows, (1, 2)) == ["{A, B}", "{n}", '{"{A, B}"}']
    rows.append(["{A, B} (1)", "m", "*"])
    assert tree_labels(rows, (1, 2, 3)) == ["{A, B}", "{n}", '{"{A, B}"}', "{A, B} (1)"]


def test_a_node_with_the_name_of_another_interval() -> None:
    rows = [["1", "[3, 9]", "*"], ["2", "[3, 9]", "*"], ["3", "x", "*"], ["9", "y", "*"]]
    tree = Hierarchy.from_rows(rows, "tree")
    column = Column(ValueDomain("c", Kind.INTEGER, (1, 2, 3, 9)), tree)
    assert group_labels(column, Partition(4, (1,))) == ("[1, 3)", "[3, 9]")


def test_many_groups() -> None:
    """As many labels as a country has zip codes."""
    names = tuple(f"{i:05}" for i in range(40_000))
    column = Column(ValueDomain("zip", Kind.TEXT, names))
    assert group_labels(column, Partition.atoms(40_000)) == names


look_alikes = st.sampled_from(
    ["A", "B", "C", "A, B", "{A, B}", "{A}", '"A"', '{"A"}', "{B, C}", '{"{A}"}', "*", "{A, B} (1)"]
)
awkward = look_alikes | st.text('AB{},"* ()1', max_size=7)


@given(st.data(), st.lists(awkward, min_size=1, max_size=7, unique=True), st.booleans())
def test_labels_of_text_are_distinct(data: st.DataObject, values: list[str], null: bool) -> None:
    column = Column(ValueDomain("c", Kind.TEXT, tuple(values), null))
    labels = group_labels(column, data.draw(partitions(column)))
    assert len(set(labels)) == len(labels)


@given(st.data(), st.lists(awkward, min_size=1, max_size=7, unique=True), st.booleans())
def test_labels_of_trees_are_distinct(data: st.DataObject, values: list[str], null: bool) -> None:
    tree = data.draw(trees(values, st.sampled_from(values) | awkward))
    column = Column(ValueDomain("c", Kind.TEXT, tree.leaves, null), tree)
    labels = group_labels(column, data.draw(partitions(column)))
    assert len(set(labels)) == len(labels)
    assert labels.count(None) <= null


@given(st.data(), columns())
def test_labels_of_any_column_are_distinct(data: st.DataObject, column: Column) -> None:
    partition = Partition.from_bits(data.draw(bit_strings(column)))
    labels = group_labels(column, partition)
    assert len(labels) == len(set(labels)) == len(partition)


@given(
    st.lists(awkward, min_size=2, max_size=4, unique=True),
    st.lists(awkward, min_size=2, max_size=4, unique=True),
)
@example(["a, b", "c"], ["a", "b, c"])
@example(['a", "b', "c"], ["a", "b", "c"])
def test_sets_can_be_told_apart(left: list[str], right: list[str]) -> None:
    """A set label names its values and their order, whatever they contain."""
    cut = "some other value"
    labels = [text_labels([*values, cut], (len(values) - 1,))[0] for values in (left, right)]
    assert (labels[0] == labels[1]) == (left == right)


def test_an_interval_builder_over_a_range_closes_the_last_group() -> None:
    """The range [0, 40] ends with 40 inside, whatever the builder calls its intervals."""
    domain = IntervalDomain.of_range("age", Kind.INTEGER, 0, 40, 5)
    tree = intervals(domain.left_ends, Kind.INTEGER, [10])
    column = Column(domain, tree)
    assert group_labels(column, column.levels[1]) == ("[0, 10)", "[10, 20)", "[20, 30)", "[30, 40]")
