"""When a pseudonym needs a reason: where it links rows of a person, or releases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import town_table
import yaml
from command_line import Run, message
from town_table import GOOD

import sqlanon
from sqlanon.errors import VerificationError

DOCS = Path(__file__).parents[2] / "docs" / "policy.md"
KEY = "correct-horse-battery-staple-0123"
STABLE = {"role": "pseudonym", "stable": True, "key": KEY}


def write_visits(folder: Path) -> None:
    """Thirty patients with two visits each, at one age."""
    lines = [f"P{i % 30},{20 + i % 30 // 3}" for i in range(60)]
    (folder / "visits.csv").write_text("patient,age\n" + "\n".join(lines) + "\n")


def test_a_fresh_one_for_every_row_only_says_that_rows_differ(tmp_path: Path) -> None:
    policy = town_table.make(tmp_path, columns={"name": {"role": "pseudonym"}})
    with sqlanon.load(policy) as anonymizer:
        release = anonymizer.publish(GOOD)
    assert release.rows == 60
    assert not release.certificate.document.findings


def test_a_stable_one_links_releases(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, columns={"name": STABLE})
    said = message(3, run("publish", "policy.yml", "--scheme", "good.json"))
    assert (
        "the pseudonym 'name' links this release with others, row by row: 60 distinct values in "
        '60 rows; add `accept: "reason"` to columns.name, or remove it with the role identifying'
    ) in said
    assert "belong to the same person" not in said
    town_table.make(tmp_path, columns={"name": {**STABLE, "accept": "a study over years"}})
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0


@pytest.mark.parametrize("column", [{"role": "pseudonym"}, STABLE])
def test_one_that_repeats_links_the_rows_of_a_person(
    tmp_path: Path, column: dict[str, Any]
) -> None:
    write_visits(tmp_path)
    policy = {
        "source": {"file": str(tmp_path / "visits.csv")},
        "columns": {"patient": column, "age": {"role": "quasi"}},
        "subject": "patient",
        "privacy": {"k": 2},
        "publish": {"file": str(tmp_path / "out.csv")},
    }
    with sqlanon.load(policy) as anonymizer:
        found = anonymizer.search()
        with pytest.raises(VerificationError) as caught:
            anonymizer.publish(found)
    said = str(caught.value)
    assert "the pseudonym 'patient' shows which rows belong to the same person" in said
    assert ("and links this release with others" in said) == ("key" in column)
    assert "30 distinct values in 60 rows" in said


@pytest.mark.parametrize(("people", "visits"), [(6, 2), (30, 4)])
def test_a_stable_one_needs_a_reason_however_often_it_occurs(
    tmp_path: Path, people: int, visits: int
) -> None:
    lines = [f"P{i % people},{20 + i % people // 3}" for i in range(people * visits)]
    (tmp_path / "visits.csv").write_text("patient,age\n" + "\n".join(lines) + "\n")

    def policy(**keys: str) -> dict[str, Any]:
        return {
            "source": {"file": str(tmp_path / "visits.csv")},
            "columns": {"patient": {**STABLE, **keys}, "age": {"role": "quasi"}},
            "one_row_per_person": True,
            "privacy": {"k": 2},
            "publish": {"file": str(tmp_path / "out.csv")},
        }

    scheme = {"columns": {"age": {"level": 0}}}
    with sqlanon.load(policy()) as anonymizer, pytest.raises(VerificationError) as caught:
        anonymizer.publish(scheme)
    assert (
        "the pseudonym 'patient' shows which rows belong to the same person and links this release "
        f"with others, row by row: {people} distinct values in {people * visits} rows; add `accept"
    ) in str(caught.value)
    with sqlanon.load(policy(accept="a study over years")) as anonymizer:
        document = anonymizer.publish(scheme).certificate.document
    assert [(each.column, each.kind) for each in document.findings] == [("patient", "linkable")]


def test_the_example_of_the_documentation_publishes(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (example,) = [block for block in blocks if "role: pseudonym" in block]
    assert yaml.safe_load(example)["columns"]["patient"]["stable"]
    monkeypatch.setenv("SQLANON_KEY", KEY)
    write_visits(tmp_path)
    (tmp_path / "policy.yml").write_text(example, encoding="utf-8")
    assert run("search", "policy.yml").status == 0
    done = run("publish", "policy.yml", "--scheme", "result.json")
    assert done.status == 0, done.err
    assert (tmp_path / "visits_anon.csv").exists()
