"""An audit of a CSV file counts what is written in it, as a reader sees it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from command_line import Run, message

import sqlanon
from sqlanon.errors import ArgumentError


def audited(folder: Path, text: str, *quasi: str, name: str = "t.csv") -> sqlanon.CheckResult:
    (folder / name).write_text(text, encoding="utf-8")
    return sqlanon.check(folder / name, quasi)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ('a,b\n"",x\n"",x\n,x\n,x\n,x\n', [2, 3]),  # an empty text is not NULL
        ("a,b\n1.0,x\n1.00,x\n1,x\n1,x\n", [1, 1, 2]),
        ("a,b\n2026-01-02,x\n2026-1-2,x\n", [1, 1]),
        ("a,b\n0.0,x\n-0.0,x\n", [1, 1]),
        ('a,b\n"7",x\n7,x\n', [2]),  # quotes are no part of a value
        ("a,b\nNULL,x\n,x\n", [1, 1]),
    ],
)
def test_fields_are_equal_as_they_are_written(tmp_path: Path, text: str, sizes: list[int]) -> None:
    found = audited(tmp_path, text, "a", "b").audit.sizes
    assert sorted(each.size for each in found for _ in range(each.classes)) == sizes


def test_other_separators_and_a_packed_file(tmp_path: Path) -> None:
    text = 'a\tb\n1.0\t""\n1.00\t\n1.0\t""\n'
    assert audited(tmp_path, text, "a", "b", name="t.tsv").audit.spread.classes == 2
    assert audited(tmp_path, text.replace("\t", ";"), "a", "b").audit.spread.classes == 2
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.replace("\t", ",").encode()))
    assert sqlanon.check(tmp_path / "t.csv.gz", ["a", "b"]).audit.spread.classes == 2


def test_a_header_alone_and_a_file_without_one(tmp_path: Path) -> None:
    assert audited(tmp_path, "a,b\n", "a").rows == 0
    assert audited(tmp_path, "1,2\n3,4\n", "column0").rows == 2


def test_people_and_sensitive_values_are_told_apart_by_what_they_mean(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,who,pay\nx,1.0,5\nx,1.00,5.0\ny,2,6\ny,3,7\n", encoding="utf-8")
    found = sqlanon.check(file, "a", subject="who", sensitive="pay")
    assert (found.k, found.audit.people) == (1, 3)
    assert found.audit.sensitive[0].largest_share == 1.0
    file.write_text('a,who\nx,""\nx,1\n', encoding="utf-8")
    with pytest.raises(sqlanon.SqlanonError, match="subject column 'who' is NULL in 1 row"):
        sqlanon.check(file, "a", subject="who")


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        ("2020-01-01", "2020-1-1", "2020-01-02"),
        ("13/01/2020", "13/1/2020", "01/02/2020"),
        ("31.12.2020", " 31.12.2020", "1.12.2020"),
        ("10:00", "10:00:00", "10:01"),
        ("2020-01-01 00:00:00", "2020-01-01T00:00:00.0", "2020-01-01 00:00:01"),
        ("01/13/2020 10:00:00 AM", "1/13/2020 10:00:00 AM", "01/13/2020 10:00:00 PM"),
        ("2020-01-01 00:00:00+02", "2019-12-31 22:00:00Z", "2020-01-01 00:00:00+00"),
        ("1e3", "1000", "1001"),
    ],
)
def test_dates_and_times_too(tmp_path: Path, one: str, same: str, other: str) -> None:
    file = tmp_path / "t.csv"
    rows = "".join(f"x,{value},{value}\n" for value in (one, same))
    file.write_text(f'a,who,when\n{rows}y,{other},{other}\ny,{one},""\n', encoding="utf-8")
    found = sqlanon.check(file, "a", subject="who", sensitive="when")
    assert (found.k, found.audit.people) == (1, 2)
    assert found.audit.sensitive[0].largest_share == 1.0
    file.write_text(f'a,who\nx,{one}\nx,""\n', encoding="utf-8")
    with pytest.raises(sqlanon.SqlanonError, match="subject column 'who' is NULL in 1 row"):
        sqlanon.check(file, "a", subject="who")
    assert audited(tmp_path, f"a,b\n{one},x\n{same},x\n", "a").audit.spread.classes == 2


def test_an_empty_text_alone_in_its_class_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n"",x\n,x\n,x\n1.0,x\n1.0,x\n', encoding="utf-8")
    done = run("check", "t.csv", "--qi", "a", "--k", "2", "--json", "--show-values")
    assert done.status == 3
    document = json.loads(done.out)
    assert document["k"] == 1
    assert document["smallest"][0]["values"] == {"a": ""}


@pytest.mark.parametrize("text", ["a,,b", ",", "a,", " ,a", ""])
def test_empty_names_are_refused(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    said = message(2, run("check", "t.csv", "--qi", text))
    assert f"Error: --qi {text!r}: there is a name missing; write columns as a,b,c" in said
    said = message(2, run("check", "t.csv", "--qi", "a", "--sensitive", text))
    assert f"Error: --sensitive {text!r}: there is a name missing" in said


def test_a_column_has_one_role(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    said = message(2, run("check", "t.csv", "--qi", "a,b", "--sensitive", "b"))
    assert said.endswith("column 'b' is named by --qi and by --sensitive; leave one of the two out")
    assert "by --subject" in message(2, run("check", "t.csv", "--qi", "a", "--subject", "a"))
    with pytest.raises(ArgumentError, match="column 'a' is named by `quasi` and by `subject`"):
        sqlanon.check(tmp_path / "t.csv", "a", subject="a")
