"""JSON files from others: what is ambiguous, deep or no text is refused, with its file's name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from command_line import Run, message
from small_table import changed, write_folder

from sqlanon.documents import parse_json, read_json, read_text
from sqlanon.errors import SchemeError

DEEP = "[" * 5000 + "]" * 5000
DAMAGED = [
    (b'{"columns": {}, "columns": {}}', "the key 'columns' is given twice"),
    (b'{"columns": {"age": {"cuts": [], "cuts": []}}}', "the key 'cuts' is given twice"),
    (DEEP.encode(), "is nested too deeply"),
    (b'{"columns": ' + b"[" * 200 + b"]" * 200 + b"}", "is nested too deeply"),
    (b'{"version": ' + b"9" * 5000 + b"}", "is not JSON (a number has too many digits)"),
    (b"\xff\xfe{}", "is not UTF-8 text (byte 0)"),
    (b'{"columns": "\x00"}', "is not JSON"),
    (b"", "is not JSON"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path, changed(publish={"file": "out.csv"}))
    return tmp_path


@pytest.mark.parametrize(("content", "said"), DAMAGED)
def test_every_command_that_reads_json(run: Run, folder: Path, content: bytes, said: str) -> None:
    (folder / "bad.json").write_bytes(content)
    for arguments in (
        ("measure", "policy.yml", "--scheme", "bad.json"),
        ("sql", "policy.yml", "--scheme", "bad.json#1"),
        ("publish", "policy.yml", "--scheme", "bad.json"),
        ("utility", "policy.yml", "--scheme", "bad.json"),
        ("choose", "bad.json", "0"),
        ("check", "people.csv", "--certificate", "bad.json"),
        ("search", "policy.yml", "--method", "reference-direction", "--resume", "bad.json"),
    ):
        assert message(1, run(*arguments)).startswith(f"error: bad.json: {said}"), arguments


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "folder", "people.csv/scheme.json"])
@pytest.mark.parametrize("read", [read_text, read_json])
def test_what_is_no_file(
    folder: Path, name: str, read: Callable[[Path, type[SchemeError]], object]
) -> None:
    (folder / "folder").mkdir()
    with pytest.raises(SchemeError, match=r"cannot be read|is not the name of a file"):
        read(folder / name, SchemeError)


NESTED = "(" * 3000 + "SELECT 1" + ")" * 3000
WAREHOUSE = {"connection": "duckdb:///w.duckdb", "table": "people"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"privacy": {"k": int("9" * 400)}}, "privacy.k: a whole number has at most 38 digits"),
        ({"publish": {"file": "a\0b.csv"}}, "publish.file: text cannot hold the character NUL"),
        ({"source": {"file": "x" * 300 + ".csv"}}, "File name too long"),
        ({"source": {"file": "deep/" * 2000 + "x.csv"}}, "File name too long"),
        ({"source": WAREHOUSE | {"connection": "duckdb:///" + "y" * 300}}, "File name too long"),
        ({"source": WAREHOUSE | {"table": "../../x"}}, "'../../x' is not the name of a table"),
        ({"source": WAREHOUSE, "publish": {"to": "../../x"}}, "'../../x' is not the name of a"),
        ({"source": {"connection": "duckdb:///w.duckdb", "query": NESTED}}, "query"),
    ],
)  # fmt: skip
def test_policies_that_ask_for_the_impossible(
    run: Run, folder: Path, change: dict[str, object], said: str
) -> None:
    with duckdb.connect(folder / "w.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS FROM read_csv('{folder / 'people.csv'}')")
    write_folder(folder, changed(**{"publish": {"file": "out.csv"}, **change}))
    assert said in message(1, run("publish", "policy.yml", "--scheme", "scheme.json", "-y"))


def test_names_of_files_that_are_too_long(run: Run) -> None:
    name = "x" * 300
    for arguments in (
        ("measure", "policy.yml", "--scheme", f"scheme.json#{'9' * 300}"),
        ("search", "policy.yml", "-o", name),
        ("search", "policy.yml", "--workspace", name),
        ("publish", "policy.yml", "--scheme", "scheme.json", "--certificates", name),
        ("clean", name),
        ("schema", "-o", name),
        ("check", f"{name}.csv", "--qi", "age"),
        ("check", "people.csv", "--certificate", name),
    ):
        assert "File name too long" in message(1, run(*arguments)), arguments


def test_a_device_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlanon.documents.MOST_BYTES", 1000)
    with pytest.raises(SchemeError, match="/dev/zero: is larger than 1,000 bytes"):
        read_text("/dev/zero", SchemeError)


def test_what_is_well_formed() -> None:
    for document in ({"a": [1, {"b": None}], "c": {"a": 2}}, [], "x", None, 10**400):
        assert parse_json(json.dumps(document), "file", SchemeError) == document
