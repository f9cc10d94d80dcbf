"""2,000 people with six rows each: what counts is people, whatever the rows would say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import yaml
from command_line import Run

import sqlanon
from sqlanon.errors import PolicyError, VerificationError

SQL = """
    CREATE TABLE visits AS
    SELECT person, person // 4 AS desk, ['flu', 'cold', 'none'][visit % 3 + 1] AS illness
    FROM range(2000) AS p (person), range(6) AS v (visit)
"""
"""Four people share a desk: 500 desks, each with 4 people in 24 rows. Desks in pairs: 8 people."""

POLICY: dict[str, Any] = {
    "source": {"connection": "duckdb:///visits.duckdb", "table": "visits"},
    "columns": {
        "person": {"role": "identifying"},
        "desk": {"role": "quasi", "hierarchy": {"intervals": [2, 20]}, "family": "full-domain"},
        "illness": {"role": "sensitive"},
    },
    "privacy": {"k": 5, "l_diversity": {"l": 3}},
    "search": {"method": "optimal"},
    "publish": {"to": "released"},
}
ALONE = {"version": 1, "columns": {"desk": {"level": 0}}}
PAIRS = {"version": 1, "columns": {"desk": {"level": 1}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with duckdb.connect(tmp_path / "visits.duckdb") as connection:
        connection.sql(SQL)
    return tmp_path


def written(folder: Path, **keys: Any) -> Path:
    path = folder / "policy.yml"
    path.write_text(yaml.safe_dump(POLICY | keys))
    (folder / "alone.json").write_text(json.dumps(ALONE))
    return path


def fewest_people(folder: Path) -> tuple[int, int]:
    """Rows and people of the smallest class of the release, joined with the source by desk."""
    with duckdb.connect(folder / "visits.duckdb", read_only=True) as connection:
        source = connection.sql("FROM visits").df()
        released = connection.sql("FROM released").df()
    assert list(released.columns) == ["desk", "illness"]
    rows = int(released.groupby("desk").size().min())
    ends = released["desk"].astype(str).str.extract(r"(\d+)(?:, (\d+))?").astype(float)
    lows = pd.DataFrame({"low": ends[0], "high": ends[1].fillna(ends[0] + 1)}).drop_duplicates()
    joined = source.merge(lows, how="cross").query("low <= desk < high")
    assert len(joined) == len(source)
    return rows, int(joined.groupby("low")["person"].nunique().min())


def test_four_people_with_24_rows_are_too_few(folder: Path, run: Run) -> None:
    policy = written(folder, subject="person")
    with sqlanon.load(policy) as anonymizer:
        assert (anonymizer.histogram.rows, anonymizer.histogram.people) == (12_000, 2_000)
        assert (anonymizer.measure(ALONE).k, anonymizer.measure(ALONE).feasible) == (4, False)
        assert (anonymizer.measure(PAIRS).k, anonymizer.measure(PAIRS).feasible) == (8, True)
        with pytest.raises(VerificationError, match="k is 4, required 5: 500 of 500 classes"):
            anonymizer.publish(ALONE)
    done = run("publish", "policy.yml", "--scheme", "alone.json")
    assert (done.status, done.out) == (3, "")
    assert "500 of 500 classes have fewer than 5 people; 12,000 of 12,000 rows" in done.err
    assert not list(folder.glob("*.certificate.*"))
    with duckdb.connect(folder / "visits.duckdb", read_only=True) as connection:
        assert connection.sql("SHOW TABLES").fetchall() == [("visits",)]


def test_suppression_does_not_let_them_pass_either(folder: Path) -> None:
    policy = written(folder, subject="person", suppression={"limit": 0.9})
    with sqlanon.load(policy) as anonymizer, pytest.raises(VerificationError, match="empty"):
        anonymizer.publish(ALONE)


def test_the_search_takes_a_coarser_scheme(folder: Path, run: Run) -> None:
    written(folder, subject="person")
    assert run("search", "policy.yml", "--quiet").status == 0
    done = run("publish", "policy.yml", "--scheme", "result.json", "--json")
    assert done.status == 0, done.err
    published = json.loads(done.out)
    privacy = published["certificate"]["privacy"]
    assert (published["k"], privacy["by_rows"]["k"]) == (8, 48)
    assert published["certificate"]["source"]["people"] == 2_000
    assert fewest_people(folder) == (48, 8)


def test_rows_of_one_person_in_two_classes_make_one_person_in_each() -> None:
    frame = pd.DataFrame({"who": [1, 1, 1, 2, 2, 3], "town": ["A", "A", "B", "A", "B", "B"]})
    policy = {"columns": {"town": {"role": "quasi"}}, "subject": "who", "privacy": {"k": 2}}
    with sqlanon.load(policy, data=frame) as anonymizer:
        release = anonymizer.publish({"columns": {"town": {"level": 0}}})
    sizes = release.certificate.to_dict()["privacy"]["sizes"]
    assert [(s["size"], s["classes"], s["rows"]) for s in sizes] == [(2, 1, 3), (3, 1, 3)]


def test_whose_the_rows_are_must_be_said(folder: Path, run: Run) -> None:
    policy = written(folder)
    with pytest.raises(PolicyError, match="one_row_per_person: true"):
        sqlanon.load(policy)
    done = run("publish", "policy.yml", "--scheme", "alone.json")
    assert (done.status, done.out) == (1, "")
    assert "policy.yml" in done.err
    assert "subject: say whose rows these are" in done.err


def test_a_false_promise_of_one_row_per_person_is_the_users(folder: Path, run: Run) -> None:
    """Then rows are counted as people: 24 rows pass for 24 people, and are 4."""
    written(folder, one_row_per_person=True)
    done = run("publish", "policy.yml", "--scheme", "alone.json", "--json")
    assert done.status == 0, done.err
    published = json.loads(done.out)
    assert (published["k"], published["certificate"]["source"]["people"]) == (24, 12_000)
    assert fewest_people(folder) == (24, 4)
    where = ["--table", "visits", "--qi", "desk", "--k", "5"]
    assert run("check", "visits.duckdb", *where).status == 0
    assert run("check", "visits.duckdb", *where, "--subject", "person").status == 3
