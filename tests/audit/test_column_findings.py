"""What is said of columns that would be released as they are."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pyarrow as pa
import pytest
from audit_oracle import Case, cases, key
from hypothesis import given, settings

from sqlanon.audit.column_findings import PATTERNS, Finding, column_findings, rows_unique_over
from sqlanon.engines.registry import open_source
from sqlanon.errors import CheckError, EngineError


def findings(cells: Sequence[object], who: Sequence[int] | None = None) -> list[Finding]:
    columns = {"x": pa.array(cells)} | ({} if who is None else {"who": pa.array(who)})
    source = open_source(data=pa.table(columns))
    subject = None if who is None else "who"
    found = column_findings(source, ["x"], subject=subject)
    return found.get("x", [])


def kinds(cells: Sequence[object], who: Sequence[int] | None = None) -> list[str]:
    return [str(each.kind) for each in findings(cells, who)]


def test_near_unique() -> None:
    assert kinds(range(19)) == []  # too few to tell
    assert kinds(range(20)) == ["near-unique"]
    assert kinds([*range(20), *[None] * 1000]) == ["near-unique"]  # NULL is no value
    assert kinds([i // 2 for i in range(40)]) == []  # exactly half
    assert kinds([*(i // 2 for i in range(40)), 99]) == ["near-unique"]
    assert kinds([i / 7 for i in range(30)]) == ["near-unique"]
    assert kinds([f"n{i}" for i in range(30)]) == ["near-unique"]
    assert kinds(["a", "b"] * 500) == []
    (finding,) = findings([*range(30), 0, 0])
    assert finding.message == (
        "column 'x' is nearly unique: 30 distinct values in 32 rows, 29 of them occur once"
    )


def test_near_unique_by_person() -> None:
    people = [i // 6 for i in range(180)]
    assert kinds(people) == []  # by rows, six share a value
    assert kinds(people, people) == ["near-unique"]  # but all six are one person's
    assert kinds([i % 6 for i in range(180)], people) == []
    (finding,) = findings(people, people)
    assert finding.message == (
        "column 'x' is nearly unique: 30 distinct values in 30 pairs of person and value, 30 of "
        "them belong to one person only"
    )


def test_free_text() -> None:
    rng = random.Random(5)
    words = ["patient", "came", "with", "pain", "in", "the", "left", "knee", "after", "walk"]
    notes = [" ".join(rng.choices(words, k=9)) for _ in range(100)]
    assert kinds(notes) == ["near-unique", "free-text"]
    assert kinds(notes * 5) == ["free-text"]
    assert kinds(notes * 20) == []  # fewer than one in ten is distinct: names of categories
    assert kinds([note.replace(" ", "_") for note in notes] * 5) == []
    assert kinds([note[:12] for note in notes] * 5) == []  # short
    assert "of them" not in findings(notes * 5)[0].message


CONTACTS = {
    "e-mail addresses": ["ann@example.org", "Ann <a.b+c@ex-ample.co.uk>", "jörg@müller.de"],
    "web addresses": ["https://example.org/ann", "see http://a.b", "www.example.org"],
    "telephone numbers": ["+49 30 1234567", "+1 (555) 123-4567", "030/1234567", "(030) 123 45 67",
                          "01 23 45 67 89", "01.23.45.67.89", "555-123-4567", "(555) 123-4567",
                          "0441 123456", "+431234567", "1-555-123-4567", "020 7946 0958"],
    "bank account numbers (IBAN)": ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00",
                                    "NO9386011117947", "GB29NWBK60161331926819",
                                    "MT84MALT011000012345MTLCAST001S"],
    "card numbers": ["4111111111111111", "4111 1111 1111 1111", "5500-0000-0000-0004",
                     "3782 822463 10005"],
    "IP addresses": ["192.168.0.1", "8.8.8.8/24", "2001:db8::1", "::1",
                     "2001:0db8:85a3:0000:0000:8a2e:0370:7334", "10.0.0.1:8080"],
}  # fmt: skip

ORDINARY = [
    "0", "1", "42", "-7", "12345", "01234", "012345", "98765-4321", "123456789", "0123456789",
    "1234567890123", "3.14", "0.1234567", "00.1234567", "-0.5", "1,000,000", "1.000.000", "1e10",
    "2020-01-31", "31.01.2020", "01/31/2020", "1/2/20", "01-02-2020", "2020/01/31", "12:30:45",
    "12:30", "20200131", "20-24", "1990-1995", "[20,30)", ">=90", "50%", "*",
    "2020-01-31 12:30:45", "2020-01-31T12:30:45", "01.02.2020 12:30", "01 02 2020", "31 01 20",
    "0 - 1000000", "0-1000000", "[20, 25)", "10115", "SW1A 1AA", "1234 AB", "K1A 0B1",
    "123-45-6789", "A12.3", "J45.909", "C34", "ICD-10", "B2B", "@home", "3 @ 4.50", "a@b",
    "Smith, John", "St. Mary", "Exec-managerial", "some-college", "www", "http", "v1.2.3",
    "1.2.3", "256.1.1.1", "AB12", "f::g::z", "550e8400-e29b-41d4-a716-446655440000", "true",
    "NULL", "", " ", "☃", "\n", "'", '"',
]  # fmt: skip


def test_every_form_has_examples() -> None:
    assert [pattern.name for pattern in PATTERNS] == list(CONTACTS)


@pytest.mark.parametrize("name", CONTACTS)
def test_what_contacts_look_like(name: str) -> None:
    """Each form is recognized, and taken for no other."""
    for cell in CONTACTS[name]:
        messages = [f.message for f in findings([cell, f"  {cell} "])]
        assert messages == [f"column 'x' holds what looks like {name}: 2 of 2 rows (100.0%)"], cell


@pytest.mark.parametrize("cell", ORDINARY)
def test_what_they_do_not_look_like(cell: str) -> None:
    assert findings([cell]) == []


def test_numbers_and_dates_are_never_contacts() -> None:
    assert kinds([4111111111111111] * 9) == []
    assert kinds([491701234567.0] * 9) == []


def test_how_many_are_enough() -> None:
    mail, phone, word = "a@b.org", "+49 30 1234567", "nothing"
    assert kinds([mail, *[word] * 99]) == ["contact"]
    assert kinds([mail, *[word] * 100]) == []
    assert kinds([mail] * 10 + [word] * 5000) == ["contact"]
    assert kinds([phone] + [word] * 9) == ["contact"]
    assert kinds([phone] * 30 + [word] * 300) == []


def test_messages_hold_no_values() -> None:
    secrets = [f"secret{i}@secret.org is the address of somebody secret" for i in range(50)]
    found = findings(secrets)
    assert [str(f.kind) for f in found] == ["near-unique", "free-text", "contact"]
    assert not any("secret" in f.message for f in found)


@given(case=cases())
@settings(max_examples=80, deadline=None)
def test_unique_rows(case: Case) -> None:
    names = [*case.quasi, *case.sensitive]
    rows = list(zip(*([key(c) for c in case.table[n].to_pylist()] for n in names), strict=True))
    who = range(len(rows)) if case.subject is None else case.table[case.subject].to_pylist()
    holders: dict[object, set[object]] = {}
    for row, person in zip(rows, who, strict=True):
        holders.setdefault(row, set()).add(key(person))
    expected = sum(len(holders[row]) == 1 for row in rows)
    source = open_source(data=case.table)
    found = rows_unique_over(source, names, subject=case.subject)
    assert found == expected


def test_what_is_refused() -> None:
    source = open_source(data=pa.table({"x": [1]}))
    with pytest.raises(CheckError, match="at least one column"):
        rows_unique_over(source, [])
    with pytest.raises(EngineError, match="the table has no column 'y', 'z'"):
        column_findings(source, ["x", "y", "z"])


def test_columns_of_any_type() -> None:
    """What cannot be a quasi-identifier may still be released: a list, a time, an interval."""
    table = pa.table({"x": pa.array([[i] for i in range(30)], pa.list_(pa.int32()))})
    source = open_source(data=table)
    assert list(column_findings(source, ["x"])) == ["x"]
    assert rows_unique_over(source, ["x"]) == 30
    intervals = open_source(
        query="SELECT unnest([INTERVAL '1 month', INTERVAL '30 days']) AS x", connection=None
    )
    assert rows_unique_over(intervals, ["x"]) == 2
