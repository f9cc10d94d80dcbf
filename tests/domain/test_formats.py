"""Hierarchies in CSV and YAML files. Expected values are written out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hierarchy_rows import Rows, tree_rows
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from written_hierarchies import write_csv, write_yaml

from sqlanon import resources
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_files import read, read_csv, read_yaml
from sqlanon.errors import HierarchyError

# Files are overwritten in every example, so one folder serves them all.
one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
awkward = st.text(
    st.sampled_from("ab;,\"\n\r \t\ufeff\x00\x85\u2028:#-?[]{}*&!|>%@`'~01ü😀"), max_size=4
)
any_text = st.one_of(
    awkward, st.text(max_size=6), st.sampled_from(["no", "null", "~", "1.0", "---"])
)
long_text = st.text(st.sampled_from("ab  -:#'\"\n"), min_size=100, max_size=200)


def rows_of(hierarchy: Hierarchy) -> Rows:
    return [list(row) for row in zip(*hierarchy.levels, strict=True)]


def csv_file(folder: Path, text: str) -> Path:
    file = folder / "h.csv"
    file.write_bytes(text.encode())
    return file


def yaml_file(folder: Path, text: str) -> Path:
    file = folder / "h.yml"
    file.write_bytes(text.encode())
    return file


def csv_refusal(folder: Path, text: str) -> str:
    with pytest.raises(HierarchyError) as caught:
        read_csv(csv_file(folder, text))
    return str(caught.value)


def yaml_refusal(folder: Path, text: str) -> str:
    with pytest.raises(HierarchyError) as caught:
        read_yaml(yaml_file(folder, text))
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;X;*\nb;Y;*\n", [["a", "X", "*"], ["b", "Y", "*"]]),
        ("a,X,*\nb,Y,*", [["a", "X", "*"], ["b", "Y", "*"]]),
        ("\ufeffa;*\r\n\r\nb;*\r\n   \r\n", [["a", "*"], ["b", "*"]]),
        ('"a;b";*\n"c""d";*\n', [["a;b", "*"], ['c"d', "*"]]),
        ('a,"x;y"\nb,"x;y"\n', [["a", "x;y"], ["b", "x;y"]]),
        ("17;[15, 20)\n18;[15, 20)\n", [["17", "[15, 20)"], ["18", "[15, 20)"]]),
        ("1,5;*\n2;*\n", [["1,5", "*"], ["2", "*"]]),
        (";*\n a ;*\n", [["", "*"], [" a ", "*"]]),
        ('"two\nlines";*\nb;*\n', [["two\nlines", "*"], ["b", "*"]]),
        ("only\n", [["only"]]),
        ('"  "\n', [["  "]]),
    ],
)
def test_csv(tmp_path: Path, text: str, rows: Rows) -> None:
    assert rows_of(read_csv(csv_file(tmp_path, text))) == rows


def test_csv_written(tmp_path: Path) -> None:
    rows = [["a;b", "[1, 2)", "*"], [" c", "[1, 2)", "*"], ["", "z", "*"]]
    file = tmp_path / "out.csv"
    write_csv(Hierarchy.from_rows(rows, "rows"), file)
    assert file.read_bytes() == b'"a;b";[1, 2);*\n" c";[1, 2);*\n"";z;*\n'
    write_csv(Hierarchy.from_rows([["a", "x;y"]], "rows"), str(file), separator=",")
    assert file.read_bytes() == b'"a","x;y"\n'


def test_csv_of_adult_is_written_as_it_is(tmp_path: Path) -> None:
    for file in resources.path("hierarchies", "adult").glob("*.csv"):
        copy = tmp_path / file.name
        write_csv(read(file), copy)
        assert copy.read_bytes() == file.read_bytes()


def test_csv_empty(tmp_path: Path) -> None:
    assert "h.csv has no rows" in csv_refusal(tmp_path, "\n\n")


def test_csv_lines_of_different_length(tmp_path: Path) -> None:
    message = csv_refusal(tmp_path, "a;X;*\n\nb;*\n")
    assert "neither ';' nor ',' divides every line" in message
    assert "with ';', line 1 has 3 fields but line 3 has 2" in message


def test_csv_without_separator(tmp_path: Path) -> None:
    assert "the first line is one field alone" in csv_refusal(tmp_path, "a\nb\n")


def test_csv_broken_quotes(tmp_path: Path) -> None:
    assert "line 2 is broken" in csv_refusal(tmp_path, 'a;*\n"b;*\n')


def test_csv_messages_name_lines_not_rows(tmp_path: Path) -> None:
    message = csv_refusal(tmp_path, '\n"a\na";*\nb;*\nb;*\n')
    assert "leaf 'b' is there twice, in line 4 and line 5" in message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("value;group;all\na;X;*\nb;Y;*\n", True),
        ("value;*;all\na;X;*\nb;X;*\n", True),
        ("a;X;all\nb;Y;*\n", False),  # either of the two may be wrong
        ("a;X;all\nb;Y;*\nc;Z;any\n", False),
        ("a;X;*\nb;Y;*\nc;Z;all\n", False),
    ],
)
def test_csv_with_a_header(tmp_path: Path, text: str, hint: bool) -> None:
    message = csv_refusal(tmp_path, text)
    assert "has no single root: its last level holds " in message
    said = (
        " But line 1 looks like a header, since no other line differs in the last level; if it is "
        "one, leave it out instead."
    )
    assert message.endswith(said) is hint
    assert ("looks like" in message) is hint


def test_csv_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "latin.csv"
    file.write_bytes("ü;*\n".encode("latin-1"))
    with pytest.raises(HierarchyError, match=r"latin\.csv: is not UTF-8 text \(byte 0\)"):
        read_csv(file)


@one_folder
@given(tree_rows(any_text), st.sampled_from(";,"))
@example([["a", "b;c"], ['d"', "b;c"]], ",")
@example([["x, y", 'p"q']], ";")
@example([["a,b"]], ";")
@example([["a;b"]], ",")
@example([["\ufeff", "*"]], ";")
@example([[""]], ";")
def test_csv_round_trip(tmp_path: Path, rows: Rows, separator: str) -> None:
    hierarchy = Hierarchy.from_rows(rows, "rows")
    write_csv(hierarchy, tmp_path / "h.csv", separator)
    assert read_csv(tmp_path / "h.csv") == hierarchy


def test_yaml_of_the_documentation(tmp_path: Path) -> None:
    text = '"*":\n  Government: [Federal-gov, State-gov]\n  Private: [Private]\n  Unknown:\n'
    assert rows_of(read_yaml(yaml_file(tmp_path, text))) == [
        ["Federal-gov", "Government", "*"],
        ["State-gov", "Government", "*"],
        ["Private", "Private", "*"],
        ["Unknown", "Unknown", "*"],
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # Leaves on three heights: in a list beside a mapping, and as a key without a value.
        (
            "all: [a, {G: [b, {H: [c]}]}, {I: ~}]",
            [
                ["a", "a", "a", "all"],
                ["b", "b", "G", "all"],
                ["c", "H", "G", "all"],
                ["I", "I", "I", "all"],
            ],
        ),
        (
            "all: [no, 1.0, 2024-01-01, 0x1F, null, 1_000, '', \"q\"]",
            [[x, "all"] for x in ("no", "1.0", "2024-01-01", "0x1F", "null", "1_000", "", "q")],
        ),
        ("yes: {1: [on], null: [off]}", [["on", "1", "yes"], ["off", "null", "yes"]]),
        ("\ufeffonly", [["only"]]),
        ("[only]", [["only"]]),
        ("only:", [["only"]]),
    ],
)
def test_yaml(tmp_path: Path, text: str, rows: Rows) -> None:
    assert rows_of(read_yaml(yaml_file(tmp_path, text))) == rows


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "has no rows"),
        ("r:\n  A: [a]\n  B: [b]\n  A: [c]\n", "line 4: 'A' is there already, in line 2"),
        ("r: [{A: [a]}, \n {A: [b]}]", "line 2: 'A' is there already, in line 1"),
        ("r: [{A: [a]}, A]", "'A' is there already, in line 1"),
        ("r:\n  A: [a]\n  B: [b,\n    a]\n", "leaf 'a' is there twice, in line 2 and line 4"),
        ("r:\n  A: {G: [a]}\n  B: {G: [b]}\n", "levels do not nest. 'G' on level 1 is under 'A'"),
        ("r: [a]\ns: [b]\n", "no single root: its last level holds 'r', 's'"),
        ("r:\n  A: []\n", "line 2: a label has nothing below it"),
        ("r:\n  A: {}\n", "line 2: a label has nothing below it"),
        ("r:\n  A: b\n", "line 2: 'b' stands alone below 'A'. Write a list, even of one."),
        ("r: {A: ''}", "'' stands alone below 'A'"),
        ("r:\n- [a]\n", "line 2: a list or mapping stands where a label belongs"),
        ("r: {[a]: [b]}", "a list or mapping stands where a label belongs"),
        ("r: {A: &x [a], B: *x}", "this part is used again through an alias. Write it out."),
        ("r: &x [a, {B: *x}]", "this part is used again through an alias"),
        ("r: [a\ns: b", "line 2: not valid YAML"),
        ("a\n---\nb\n", "not valid YAML"),
        ("r: [\x00]", "not valid YAML"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_yaml_refused(tmp_path: Path, text: str, fragment: str) -> None:
    message = yaml_refusal(tmp_path, text)
    assert fragment in message
    assert "h.yml" in message


def test_yaml_written(tmp_path: Path) -> None:
    rows = [["no", "G", "*"], ["b", "G", "*"], ["Private", "Private", "*"]]
    file = tmp_path / "out.yml"
    write_yaml(Hierarchy.from_rows(rows, "rows"), file)
    assert file.read_text() == "'*':\n  G: ['no', b]\n  Private: [Private]\n"


@one_folder
@given(tree_rows(st.one_of(any_text, long_text)))
@example([["only"]])
@example([["null"]])
@example([[""]])
@example([["\x85"]])
@example([["a\u2028b", "\r\n"]])
def test_yaml_round_trip(tmp_path: Path, rows: Rows) -> None:
    hierarchy = Hierarchy.from_rows(rows, "rows")
    write_yaml(hierarchy, tmp_path / "h.yml")
    assert read_yaml(tmp_path / "h.yml") == hierarchy


@pytest.mark.parametrize("name", ["h.yml", "h.yaml", "H.YML"])
def test_read_yaml_by_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("r: [a, b]")
    assert read(tmp_path / name).leaves == ("a", "b")


def test_read_csv_by_suffix(tmp_path: Path) -> None:
    hierarchy = read(str(csv_file(tmp_path, "a;*\nb;*\n")))
    assert hierarchy.leaves == ("a", "b")
    assert hierarchy.origin == str(tmp_path / "h.csv")


@pytest.mark.parametrize(
    ("name", "found"), [("tree.json", r"the suffix '\.json'"), ("tree", "no suffix")]
)
def test_read_unknown_suffix(name: str, found: str) -> None:
    with pytest.raises(HierarchyError, match=rf"{name} has {found}\. Use \.csv .* \.yml, \.yaml"):
        read(name)


def test_read_missing_file_names_the_built_in_ones(tmp_path: Path) -> None:
    for name in ("nowhere.csv", "nowhere.yml"):
        with pytest.raises(HierarchyError, match=rf"{name}: cannot be read .*adult/education\.csv"):
            read(tmp_path / name)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "h.csv").mkdir()
    with pytest.raises(HierarchyError, match=r"h\.csv: cannot be read"):
        read(tmp_path / "h.csv")
