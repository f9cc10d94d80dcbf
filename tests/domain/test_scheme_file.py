"""scheme.json: what is written, and that it reads back. Expected documents by hand."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheme_columns import columns, partitions

from sqlanon.domain import scheme_json
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.scheme import Scheme
from sqlanon.domain.scheme_json import from_document, read_document, to_document, write_document
from sqlanon.engines.protocol import Kind
from sqlanon.errors import SchemeError

TREE = Hierarchy.from_rows([["10th", "low", "*"], ["11th", "low", "*"], ["BSc", "high", "*"]], "e")
AGE = Column(IntervalDomain.of_range("age", Kind.INTEGER, 0, 100, 5))
EDUCATION = Column(ValueDomain("education", Kind.TEXT, TREE.leaves), TREE, Family.TAXONOMIC)
RACE = Column(ValueDomain("race", Kind.TEXT, TREE.leaves, has_null=True), TREE, Family.FULL_DOMAIN)
COLUMNS = (AGE, EDUCATION, RACE)


def written(column: Column, *cuts: int) -> dict[str, Any]:
    scheme = Scheme((column,), (Partition(column.size, cuts),))
    found: dict[str, Any] = to_document(scheme)["columns"][column.name]
    return found


def test_a_document_by_hand() -> None:
    # Cuts before 25, 40 and 60 lie below atoms 5, 8 and 12.
    scheme = Scheme(COLUMNS, (Partition(20, (4, 7, 11)), Partition(3, (1,)), Partition(4, (1, 2))))
    assert to_document(scheme) == {
        "format": "sqlanon scheme",
        "version": 3,
        "recoding": "global",
        "columns": {
            "age": {"cuts": [25, 40, 60]},
            "education": {"groups": [["10th", "11th"], ["BSc"]]},
            "race": {"level": 1, "hierarchy": TREE.fingerprint, "null": "apart"},
        },
    }


def test_order_of_keys_does_not_matter() -> None:
    document = {
        "columns": {
            "race": {"level": 2},
            "age": {"cuts": [60, 25]},
            "education": {"groups": [["BSc"], ["11th"], ["10th"]]},
        }
    }
    scheme = from_document(document, COLUMNS)
    assert scheme["age"] == Partition(20, (4, 11))
    assert scheme["education"] == Partition(3, (0, 1))
    assert scheme["race"] == Partition(4, ())


def values(kind: Kind, *listed: Any, null: bool = False, family: Family | None = None) -> Column:
    return Column(ValueDomain("c", kind, listed, null), None, family or Family.CONTIGUOUS)


NUMBERS = values(Kind.INTEGER, 1, 2, 5, null=True)
DAYS = (dt.date(2023, 1, 1), dt.date(2024, 1, 1))


@pytest.mark.parametrize(
    ("column", "cuts", "entry"),
    [
        (NUMBERS, (0, 2), {"cuts": [2], "null": "apart"}),
        (NUMBERS, (2,), {"cuts": [], "null": "apart"}),
        (NUMBERS, (), {"cuts": [], "null": "merged"}),
        (values(Kind.INTEGER, 5, 1, null=True), (0, 1), {"groups": [[5], [1], [None]]}),
        (values(Kind.TEXT, "a", "b", null=True), (), {"groups": [["a", "b", None]]}),
        (values(Kind.BOOLEAN, False, True), (0,), {"groups": [[False], [True]]}),
        (
            values(Kind.FLOAT, -math.inf, 0.5, math.inf, math.nan),
            (0, 1, 2),
            {"cuts": [0.5, "inf", "nan"]},
        ),
        (values(Kind.DECIMAL, Decimal(1), Decimal("2.50")), (0,), {"cuts": ["2.5"]}),
        (values(Kind.DATE, *DAYS), (0,), {"cuts": ["2024-01-01"]}),
        (values(Kind.TEXT, "a", "b", family=Family.FULL_DOMAIN), (0,), {"level": 0}),
        # No level of a flat column, so it is written as any other partition.
        (values(Kind.INTEGER, 1, 2, 5, family=Family.FULL_DOMAIN), (0,), {"cuts": [2]}),
    ],
)
def test_entries_by_hand(column: Column, cuts: tuple[int, ...], entry: dict[str, Any]) -> None:
    assert written(column, *cuts) == entry
    read = from_document({"columns": {"c": entry}}, [column])
    assert read["c"].cuts == cuts


@given(st.data())
@settings(max_examples=200)
def test_round_trip(data: st.DataObject) -> None:
    """Through JSON and back, for columns of every kind and family, with and without NULL."""
    drawn = tuple(data.draw(columns(name)) for name in ("a", "b"))
    scheme = Scheme(drawn, tuple(data.draw(partitions(column)) for column in drawn))
    text = json.dumps(to_document(scheme), allow_nan=False)
    read = from_document(json.loads(text), drawn)
    assert read == scheme
    assert read.fingerprint == scheme.fingerprint


PLACES = Hierarchy.from_rows(
    [[f"p{i}", f"district {i // 2}", f"county {i // 4}", "*"] for i in range(8)], "places.csv"
)
PLACE = Column(ValueDomain("c", Kind.TEXT, PLACES.leaves), PLACES)
PLACE_OR_NULL = Column(ValueDomain("c", Kind.TEXT, PLACES.leaves, True), PLACES)
LETTERS = values(Kind.TEXT, *"abcdef")


@pytest.mark.parametrize(
    ("column", "cuts", "runs"),
    [
        # The first county by district, the second by value; p4 ends where the next run begins.
        (PLACE, (1, 3, 4, 5, 6), [["p0", 1], ["p5", 0]]),
        (PLACE, (3,), [["p0", 2]]),
        (PLACE, (), [["p0", 3]]),
        (PLACE_OR_NULL, (0, 1, 2, 3, 4, 5, 6, 7), [["p0", 0]]),
        # p1 and p2 share a group, which is no node; so do p3 to p6, across both counties.
        (PLACE, (0, 2, 6), [["p0", 0], ["p1", 2], ["p3", 3], ["p7", 0]]),
        # Without a hierarchy level 1 is one group.
        (LETTERS, (0, 1, 2), [["a", 0], ["d", 1]]),
        # By cuts where these are no longer than twice as many runs.
        (values(Kind.INTEGER, 1, 2, 3, 4, 5, 6), (1, 3), None),
        (values(Kind.INTEGER, 1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 4), [[1, 0]]),
    ],
)
def test_runs_by_hand(
    monkeypatch: pytest.MonkeyPatch, column: Column, cuts: tuple[int, ...], runs: Any
) -> None:
    monkeypatch.setattr(scheme_json, "MOST_NAMED", 1)
    entry = written(column, *cuts)
    assert entry.get("runs") == runs
    assert from_document({"columns": {"c": entry}}, [column])["c"].cuts == cuts


@given(st.data())
@settings(max_examples=200)
def test_round_trip_in_runs(data: st.DataObject) -> None:
    column = data.draw(columns("a", 12))
    scheme = Scheme((column,), (data.draw(partitions(column)),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scheme_json, "MOST_NAMED", 0)
        document = json.loads(json.dumps(to_document(scheme)))
    assert "groups" not in document["columns"]["a"] or not column.domain.width
    assert from_document(document, [column]) == scheme


def test_a_wide_scheme_is_short() -> None:
    """A million values in an entry of a few lines: a thousand groups, then every value alone."""
    column = Column(ValueDomain("c", Kind.TEXT, tuple(f"{i:07}" for i in range(1_000_000))))
    cuts = (*range(499, 500_000, 500), *range(500_000, 999_999))
    entry = written(column, *cuts)
    assert len(entry["runs"]) == 1_001  # a thousand of level 1, which is one group
    assert from_document({"columns": {"c": entry}}, [column])["c"].cuts == cuts


def test_a_group_can_be_wide() -> None:
    """A zip code's worth of values in one group is read in one pass."""
    names = tuple(f"{i:05}" for i in range(40_000))
    column = Column(ValueDomain("c", Kind.TEXT, names))
    assert from_document({"columns": {"c": {"groups": [list(names)]}}}, [column])["c"].cuts == ()


def test_files(tmp_path: Path) -> None:
    column = Column(ValueDomain("größe", Kind.TEXT, ("klein", "groß"), True))
    scheme = Scheme((column,), (Partition(3, (1,)),))
    path = tmp_path / "scheme.json"
    write_document(to_document(scheme), path)
    text = path.read_text(encoding="utf-8")
    assert "größe" in text
    assert text.endswith("}\n")
    assert from_document(read_document(path), [column]) == scheme
    assert from_document(read_document(str(path)), [column]) == scheme


def file_refusal(path: Path) -> str:
    with pytest.raises(SchemeError) as caught:
        from_document(read_document(path), COLUMNS)
    return str(caught.value)


def test_files_refused(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    assert file_refusal(missing) == f"{missing}: cannot be read (No such file or directory)"
    assert file_refusal(tmp_path) == f"{tmp_path}: cannot be read (Is a directory)"
    broken = tmp_path / "broken.json"
    broken.write_text('{"columns": ')
    assert file_refusal(broken) == (
        f"{broken}: is not JSON (Expecting value: line 1 column 13 (char 12))"
    )
    broken.write_bytes(b"\xff\xfe{}")
    assert file_refusal(broken) == f"{broken}: is not UTF-8 text (byte 0)"
    broken.write_text("[]")
    assert file_refusal(broken).startswith(f"{broken}: is no ")
    with pytest.raises(SchemeError) as caught:
        write_document(to_document(Scheme((AGE,), (Partition.whole(20),))), tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be written (Is a directory)"
