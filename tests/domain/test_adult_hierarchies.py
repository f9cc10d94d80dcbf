"""The hierarchies for Adult are trees in preorder that cover the data's values."""

from __future__ import annotations

import csv
from itertools import groupby, pairwise

import duckdb
import pytest

from sqlanon import datasets, resources

LENGTHS = {
    "age": 6,
    "workclass": 3,
    "education": 3,
    "marital-status": 3,
    "occupation": 3,
    "race": 1,
    "sex": 1,
    "native-country": 4,
    "salary-class": 1,
}
every_column = pytest.mark.parametrize("column", LENGTHS)


def rows_of(column: str) -> list[list[str]]:
    file = resources.path("hierarchies", "adult", f"{column}.csv")
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter=";"))


def test_one_file_a_column() -> None:
    files = resources.path("hierarchies", "adult").glob("*.csv")
    assert {file.stem for file in files} == set(LENGTHS)


@every_column
def test_length(column: str) -> None:
    assert {len(row) - 1 for row in rows_of(column)} == {LENGTHS[column]}


@every_column
def test_no_label_is_blank_or_padded(column: str) -> None:
    for row in rows_of(column):
        assert all(label and label == label.strip() for label in row)


@every_column
def test_one_root(column: str) -> None:
    assert {row[-1] for row in rows_of(column)} == {"*"}
    assert all("*" not in row[:-1] for row in rows_of(column))


@every_column
def test_leaves_are_unique(column: str) -> None:
    leaves = [row[0] for row in rows_of(column)]
    assert len(leaves) == len(set(leaves))


@every_column
def test_levels_nest(column: str) -> None:
    """A label names one node of its level: everything above it is the same on every row."""
    rows = rows_of(column)
    for level in range(len(rows[0])):
        labels = {row[level] for row in rows}
        paths = {tuple(row[level:]) for row in rows}
        assert len(labels) == len(paths), f"level {level}"


@every_column
def test_rows_are_in_preorder(column: str) -> None:
    rows = rows_of(column)
    for level in range(len(rows[0])):
        runs = [label for label, _ in groupby(row[level] for row in rows)]
        assert len(runs) == len(set(runs)), f"level {level}"


@every_column
def test_every_level_generalizes(column: str) -> None:
    """Each level has fewer labels than the one below, so no level is there for nothing."""
    sizes = [len(set(level)) for level in zip(*rows_of(column), strict=True)]
    assert all(fine > coarse for fine, coarse in pairwise(sizes)), sizes


@pytest.mark.parametrize("column", [column for column in LENGTHS if column != "age"])
def test_leaves_are_the_values_of_the_data(column: str) -> None:
    adult = duckdb.read_parquet(str(datasets.adult_path()))
    values = adult.select(duckdb.ColumnExpression(column)).distinct().fetchall()
    assert sorted(row[0] for row in rows_of(column)) == sorted(value for (value,) in values)


def test_ages_are_left_closed_intervals() -> None:
    rows = rows_of("age")
    assert [int(row[0]) for row in rows] == list(range(17, 91))
    for row in rows:
        age = int(row[0])
        for label, width in zip(row[1:-1], (5, 10, 20, 40, 80), strict=True):
            low = age // width * width
            assert label == f"[{low}, {low + width})"


def test_education_is_in_order_of_schooling() -> None:
    leaves = [row[0] for row in rows_of("education")]
    assert (leaves[0], leaves[8], leaves[12], leaves[-1]) == (
        "Preschool",
        "HS-grad",
        "Bachelors",
        "Doctorate",
    )
