"""The YAML around a policy: what cannot be read is refused in one line that says where."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy.policy import read_policy

GOOD = "columns: {age: {role: quasi}}\none_row_per_person: true\n"


def refusal(path: Path, content: str | bytes) -> str:
    """What is said of a file, after its name."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PolicyError) as caught:
        read_policy(path)
    where, said = str(caught.value).split(": ", 1)
    assert where == str(path)
    return said


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.yml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("columns:\n  age: {role: quasi}\n  sex: {}\n  age: {}\n",
         "line 4: not valid YAML: the key 'age' is given twice"),
        ("columns: [\n", "line 2: not valid YAML: expected the node content, "
         "but found '<stream end>'"),
        ("a: b: c\n", "line 1: not valid YAML: mapping values are not allowed here"),
        ("? [a, b]\n: c\n", "line 1: not valid YAML: found unhashable key"),
        ("a: !!python/name:os.system\n", "line 1: not valid YAML: could not determine a "
         "constructor for the tag 'tag:yaml.org,2002:python/name:os.system'"),
        ("a: 2020-02-31\n", "not valid YAML: day is out of range for month; put text in quotes"),
        ("a: \x00\n", "not valid YAML: unacceptable character #x0000: special characters are "
         "not allowed"),
        ("", "is not a policy; expected keys such as `columns:`, found nothing"),
        ("people.csv\n", "is not a policy; expected keys such as `columns:`, found plain text"),
        ("- a\n- b\n", "is not a policy; expected keys such as `columns:`, found a list"),
        ("[" * 5000, "is nested too deeply"),
    ],
)  # fmt: skip
def test_not_a_policy(file: Path, text: str, said: str) -> None:
    assert refusal(file, text) == said


def test_two_documents(file: Path) -> None:
    assert refusal(file, f"{GOOD}---\n{GOOD}").startswith("line 3: not valid YAML: ")


def test_not_utf8(file: Path) -> None:
    said = refusal(file, "columns: {größe: {role: quasi}}".encode("latin-1"))
    assert said == "is not UTF-8 text (byte 12)"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"nowhere\.yml: cannot be read \(No such file"):
        read_policy(tmp_path / "nowhere.yml")
    with pytest.raises(PolicyError, match=r"cannot be read \(Is a directory\)"):
        read_policy(tmp_path)


def test_yaml_that_contains_itself(file: Path) -> None:
    assert refusal(file, "&a {columns: *a}\n") == "is nested too deeply"


def test_marks_and_merges_are_yaml_too(file: Path) -> None:
    text = """\
columns:
  age: &quasi {role: quasi, weight: 2}
  sex: {<<: *quasi, weight: 3}
one_row_per_person: true
"""
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    columns = read_policy(file).section.columns
    assert [columns[name].weight for name in ("age", "sex")] == [2, 3]


def test_aliases_that_stand_for_a_huge_document(file: Path) -> None:
    """The "billion laughs": 9 lines, 10 to the power of 9 values when they are written out."""
    again = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    text = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *again])
    start = time.process_time()
    assert "its aliases (*name) stand for more than 100,000 values" in refusal(file, text)
    assert time.process_time() - start < 2
    merged = [f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}" for i in range(1, 30)]
    assert "its aliases" in refusal(file, "\n".join(["a0: &a0 {x: 1}", *merged]))


def test_aliases_that_nest_without_brackets(file: Path) -> None:
    lines = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 200))]
    assert refusal(file, "\n".join(lines)) == "is nested too deeply"


def test_many_values_are_no_bomb(file: Path) -> None:
    values = ", ".join(map(str, range(60_000)))
    file.write_text(f"columns: {{age: {{role: quasi, values: &v [{values}]}}}}\n"
                    "one_row_per_person: true\n")  # fmt: skip
    assert len(read_policy(file).section.columns["age"].values or ()) == 60_000
