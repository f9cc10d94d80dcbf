"""Columns whose collation takes 'Bonn' and 'bonn' for equal: searched, published and checked.

Towns and illnesses are told apart by their spelling, people are not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon

COLLATED = "VARCHAR COLLATE NOCASE"
TOWNS = ["Bonn", "bonn", "BONN", "Oslo", "oslo"]


def make(folder: Path, rows: list[tuple[str, str, str]]) -> Path:
    file = folder / "people.duckdb"
    with duckdb.connect(file) as connection:
        connection.execute(
            f"CREATE TABLE people (who {COLLATED}, town {COLLATED}, illness {COLLATED})"
        )
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    return file


def policy(file: Path, **more: Any) -> dict[str, Any]:
    return {
        "source": {"connection": f"duckdb:///{file}", "table": "people"},
        "columns": {
            "who": {"role": "identifying"},
            "town": {"role": "quasi", **more.pop("town", {})},
            "illness": {"role": "sensitive"},
        },
        "privacy": {"k": 4, "homogeneity": {"accept": "it is in the test"}},
        "publish": {"to": "released"},
        **more,
    }


def shown(file: Path) -> dict[str, int]:
    with duckdb.connect(file, read_only=True) as connection:
        counts = connection.sql('SELECT town COLLATE "binary", count(*) FROM released GROUP BY 1')
        return dict(counts.fetchall())


@pytest.mark.parametrize("form", ["case", "join"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"suppression": {"limit": 0.1}},
        {"suppression": {"limit": 0.1, "rows": "mark", "marker": "BoNN"}},
        {"publish": {"to": "released", "unseen": "top"}},
        {"publish": {"to": "released", "unseen": "leave_out"}},
    ],
)
def test_towns_stay_apart(tmp_path: Path, form: str, more: dict[str, Any]) -> None:
    rows = [
        (f"{town} {n}", town, ["flu", "FLU", "cold"][n % 3]) for town in TOWNS for n in range(4)
    ]
    file = make(tmp_path, rows)
    made = policy(file, one_row_per_person=True, town={"form": form}, **more)
    with sqlanon.load(made) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        assert result.solution.k == 4
        certificate = anonymizer.publish(result).certificate.to_dict()
    assert shown(file) == dict.fromkeys(TOWNS, 4)
    assert certificate["columns"][1]["loss"] == 0
    checked = sqlanon.check(file, "town", 4, sensitive="illness", table="released")
    assert checked.holds
    assert checked.audit.sensitive[0].fewest_values == 3


def test_a_spelling_of_few_is_no_part_of_the_others(tmp_path: Path) -> None:
    rows = [(f"{n}", "Bonn" if n < 9 else "bonn", "flu") for n in range(10)]
    file = make(tmp_path, rows)
    made = policy(file, one_row_per_person=True, suppression={"limit": 0.1})
    with sqlanon.load(made) as anonymizer:
        anonymizer.publish(anonymizer.search())
    assert shown(file) == {"Bonn": 9}


@pytest.mark.parametrize("towns", [["Rome", "Rome"], ["Rome", "rome"]])
def test_two_spellings_of_a_subject_are_one_person(tmp_path: Path, towns: list[str]) -> None:
    """Everybody has two rows under two spellings, in one town or moving between two."""
    rows = [
        (f"{'pP'[visit]}{n}", towns[(n + visit) % 2], ["flu", "FLU", "cold"][n % 3])
        for n in range(4)
        for visit in range(2)
    ]
    file = make(tmp_path, rows)
    with sqlanon.load(policy(file, subject="who")) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        assert result.solution.k == 4, "not 8"
        certificate = anonymizer.publish(result).certificate.to_dict()
        together = {"columns": {"town": {"groups": [sorted(set(towns))]}}}
        assert anonymizer.measure(together).k == 4
    assert certificate["privacy"]["k"] == 4
    assert sum(shown(file).values()) == 8
    source = sqlanon.check(file, "town", 4, subject="who", table="people")
    assert source.audit.people == 4
