"""The attacks in short runs, and the oracle of the fuzz by itself.

The programs in this folder do the same at length: 2,000 tables, 300 kills (CONTRIBUTING.md).
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fuzz_cases import draw
from model_oracle import Shares
from release_oracle import NUMBER, Evidence, Labels, tightened, violations

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parent / "reference"
ORACLES = ("model_oracle", "release_oracle")
CONTRIBUTING = HERE.parent.parent / "CONTRIBUTING.md"
POLICY: dict[str, Any] = {
    "columns": {"c": {"role": "quasi"}, "d": {"role": "sensitive"}, NUMBER: {"role": "label"}},
    "one_row_per_person": True,
    "privacy": {"k": 1},
    "publish": {},
}


def run(script: str, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, HERE / script, "--json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.slow
def test_releases_of_random_tables_hold_what_their_policies_require() -> None:
    found = run("fuzz.py", "--tables", "40", "--tighten", "0.5")
    assert found["violations"] == []
    assert found["released"] >= 20
    seen = {model for model, each in found["models"].items() if each["violated_when_tightened"]}
    assert {"k", "l distinct", "l recursive"} <= seen  # in 2,000 tables all of them


@pytest.mark.slow
def test_releases_of_cut_trees_hold_what_their_policies_require() -> None:
    found = run("fuzz.py", "--tables", "40", "--tighten", "0.5", "--trees")
    assert found["violations"] == []
    assert found["released"] >= 15


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_at_random_moments() -> None:
    found = run("kills.py", "--kills", "10")
    assert (found["kills"], found["losses"]) == (10, [])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
def test_published_on_a_full_disk() -> None:
    """Every mode is refused without space; a table and its replacement also with one block."""
    tables = run("full_disk.py", "--modes", "table", "replace", "--free", "0", "262144")
    others = run("full_disk.py", "--modes", "view", "csv", "parquet", "--free", "0")
    assert tables["losses"] == others["losses"] == []
    assert (tables["refused"], others["refused"]) == (4, 3), (tables, others)


def test_programs_are_documented() -> None:
    section = CONTRIBUTING.read_text().split("## Attacks")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w+\.py)", section))
    assert {"fuzz.py", "kills.py", "full_disk.py"} <= named
    assert all((HERE / name).exists() for name in named)


# The oracle


@pytest.mark.parametrize("oracle", ORACLES)
def test_the_oracle_imports_nothing_of_sqlanon(oracle: str) -> None:
    """Nor anything else that is not of Python itself, by which it could come in."""
    imported = set()
    for node in ast.walk(ast.parse((REFERENCE / f"{oracle}.py").read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module).split(".")[0])
        elif isinstance(node, ast.Name):
            assert node.id not in ("__import__", "exec", "eval")
    assert imported
    allowed = sys.stdlib_module_names - {"importlib", "runpy", "subprocess"}
    assert imported <= allowed | {*ORACLES}


def shares(*values: Any) -> Shares:
    return Shares.of(enumerate(values))


def test_distances_of_the_paper() -> None:
    """Li, Li and Venkatasubramanian (2007), section 4: salaries 3k to 11k, and diseases."""
    salaries = list(range(3, 12))
    whole = shares(*salaries)
    assert shares(3, 4, 5).ordered(whole, salaries) == Fraction(3, 8)
    assert shares(6, 8, 11).ordered(whole, salaries) == Fraction(1, 6)
    assert shares(3, 4, 5).equal(whole) == Fraction(2, 3)


def test_measures_by_hand() -> None:
    tree = [["a", "x", "*"], ["b", "x", "*"], ["c", "c", "*"]]
    whole = shares("a", "a", "b", "c")
    assert shares("a", "b").hierarchical(whole, tree) == Fraction(1, 4)  # c's quarter goes up 2
    assert shares("b", "b", "a", "c").hierarchical(whole, tree) == Fraction(1, 8)  # up 1 of 2
    assert shares("b", "a").gain(whole) == 1  # a half instead of a quarter
    assert shares("a", "b").ratio(whole) == float("inf")
    assert shares("a", "a", "b").recursive(2) == 2
    assert shares("a", "b").perplexity() == pytest.approx(2)


@pytest.mark.parametrize(
    ("kind", "section", "label", "true_of", "not_of"),
    [
        ("integer", {}, "[20, 30)", [20, 29], [30, 19, None]),
        ("integer", {}, "<20", [19, -5], [20, None]),
        ("float", {}, "4.1+ or NaN", [4.1, float("nan")], [4.0, None]),
        # As binary fractions 0.3 is below three tenths, and 1e300 above its power of ten by 5e283.
        ("float", {}, "[0.3, 0.4)", [0.3, 0.39], [0.4, 0.29, float("inf"), float("nan"), None]),
        ("float", {}, f"[1{0:0300}, 1{0:0300}.5)", [1e300], [9.999999999999999e299, 0.0]),
        ("float", {}, f"[1{0:0300}, 1{0:0299}2)", [1e300], [1.0000000000000002e300, 2.0]),
        ("float", {}, f"[1{0:0299}2, 1{0:0299}4)", [], [1e300, 1.0000000000000002e300]),
        ("float", {}, f"<1{0:0300}.5", [1e300, -float("inf")], [1.0000000000000002e300]),
        ("float", {}, "[-inf, 5e-324)", [-float("inf"), -0.0, -5e-324], [5e-324, 1.0]),
        ("text", {}, '{a, "b, c"}', ["a", "b, c"], ["b", "c", None]),
        ("text", {"hierarchy": {"mask": {}}}, "12***", ["12345"], ["13345", "1234", None]),
        ("text", {"null_label": "none"}, "none", [None, "none"], ["a"]),
        ("text", {}, "*", ["a", None], []),
    ],
)
def test_labels_are_read_as_documented(
    kind: str, section: dict[str, Any], label: str, true_of: list[Any], not_of: list[Any]
) -> None:
    policy = {"columns": {"c": {"role": "quasi", **section}}, "privacy": {"k": 1}}
    column = Labels(Evidence(policy, {"c": kind}, [], []), "c")
    assert all(column.test(label)(cell) for cell in true_of)
    assert not any(column.test(label)(cell) for cell in not_of)


def test_a_mask_stands_for_texts_of_its_length_and_the_longest_for_all() -> None:
    """Of texts with 3, 4 and 5 characters the root has 5 (docs/hierarchies.md)."""
    mask = {"mask": {"character": "x", "from": "left"}}
    policy = {**POLICY, "columns": {**POLICY["columns"], "c": {"role": "quasi", "hierarchy": mask}}}
    texts = ["101", "8001", "8002", "10037", "10007"]
    source = [{"c": text, "d": "flu", NUMBER: n} for n, text in enumerate(texts)]
    kinds = {"c": "text", "d": "text", NUMBER: "integer"}

    def found(*labels: str | None, **more: Any) -> list[str]:
        released = [{**row, "c": label} for row, label in zip(source, labels, strict=True)]
        evidence = Evidence(policy, kinds, source, released, **more)
        return [each.text for each in violations(evidence)]

    assert found("xxx", "xxxx", "xxxx", "xxxx7", "xxxx7") == []
    assert found(*["xxxxx"] * 5) == []
    assert found("xxxx", "xxxx", "xxxx", "xxxx7", "xxxx7") == ["('xxxx',) is not true of rows [0]"]
    assert found("xxx", "xxxx", "8002", "xxxx7", "xxxx7") == ["('xxxx',) lacks rows [2]"]
    assert found("xxx", "xxxx", "xxxx", "xxxxx", "xxxx7") == [
        "('xxxxx',) lacks rows [0, 1, 2, 4]",
        "('xxxx7',) lacks rows [3]",
    ]
    # Found before longer texts came, the root has four, and with `unseen: top` takes them too.
    assert found(*["xxxx"] * 5, first=source[:3], grown=True) == []
    assert found(*["xxx"] * 5, first=source[:3], grown=True) == [
        "('xxx',) is not true of rows [1, 2, 3, 4]"
    ]
    source[0]["c"] = None
    assert found(None, "xxxx", "xxxx", "xxxx7", "xxxx7") == []
    assert found("xxxx", "xxxx", "xxxx", "xxxx7", "xxxx7") == ["('xxxx',) is not true of rows [0]"]


@pytest.mark.parametrize(
    ("privacy", "rule"),
    [
        ({"k": 3}, "k"),
        ({"k": 1, "l_diversity": {"l": 2}}, "l distinct"),
        ({"k": 1, "l_diversity": {"kind": "entropy", "l": 1.88}}, "l entropy"),
        ({"k": 1, "l_diversity": {"kind": "recursive", "c": 2.1, "l": 2}}, "l recursive"),
        ({"k": 1, "t_closeness": {"t": 0.167}}, "t equal"),
        ({"k": 1, "beta_likeness": {"beta": 0.34}}, "beta"),
        ({"k": 1, "delta_disclosure": {"delta": 0.41}}, "delta"),
        ({"k": 1, "alpha_k": {"alpha": 0.67}}, "alpha"),
        ({"k": 1, "k_map": 3}, "k_map"),
    ],
)
def test_the_control_sees_every_model(privacy: dict[str, Any], rule: str) -> None:
    """Two classes, flu flu cold and flu cold cold: 2/3 where the source has 1/2, so β = 1/3,
    t = 1/6, δ = ln 3/2 = 0.405, exp(entropy) = 1.890, r₁ / r₂ = 2, and three people fit y."""
    rows = [("x", "flu"), ("x", "flu"), ("x", "cold"), ("y", "flu"), ("y", "cold"), ("y", "cold")]
    source = [{"c": c, "d": d, NUMBER: n} for n, (c, d) in enumerate(rows)]
    policy = {**POLICY, "privacy": privacy, "population": {}}
    kinds = {"c": "text", "d": "text", NUMBER: "integer"}
    evidence = Evidence(policy, kinds, source, source, population=[*source, *source[:3]])
    assert violations(evidence) == []
    evidence.policy = tightened(policy, Fraction(9, 10))
    assert {each.rule for each in violations(evidence)} == {rule}


def test_the_oracle_sees_rows_that_do_not_add_up() -> None:
    source = [{"c": n, "d": "flu", NUMBER: n} for n in range(4)]
    kinds = {"c": "integer", "d": "text", NUMBER: "integer"}

    def rules(released: list[dict[str, Any]]) -> set[str]:
        return {each.rule for each in violations(Evidence(POLICY, kinds, source, released))}

    assert rules(source) == set()
    assert rules(source[1:]) == {"limit"}
    assert "rows" in rules([*source, source[0]])
    assert rules([{**row, "c": "[0, 3)"} for row in source]) == {"labels"}
    assert rules([{**source[0], "d": "cold"}, *source[1:]]) == {"rows"}


def test_cases_depend_on_their_seed_alone() -> None:
    one, other = draw(7), draw(7)
    assert repr(one) == repr(other)
    assert repr(one) != repr(draw(8))
