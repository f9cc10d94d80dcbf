"""Every privacy model from a policy to its release: suppression, refusal, search, certificate."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from command_line import Run
from model_cases import (
    APART,
    CASES,
    TOWNS,
    Case,
    patients,
    population,
    rows_of,
    safe_towns,
    write,
)

import sqlanon
from sqlanon.checking import recheck

EVERY = pytest.mark.parametrize("name", CASES)
BOTH = pytest.mark.parametrize("subject", [False, True], ids=["by rows", "by subject"])


def checked(
    folder: Path, case: Case, frame: pd.DataFrame, subject: bool, everybody: pd.DataFrame
) -> sqlanon.CheckResult:
    """What somebody finds who has the release and, as a reference, the source."""
    asked = dict(case.asked)
    if "hierarchy" in asked:
        asked["hierarchy"] = {"ill": folder / "ill.csv"}
    if "k_map" in asked:
        asked["population"] = everybody
    who = "who" if subject else None  # the release names people by their pseudonyms
    return sqlanon.check(frame, ["town"], 3, who, case.column, reference=patients(), **asked)


def test_the_cases_tell_something() -> None:
    """Each model refuses some towns and keeps some, and not all refuse the same."""
    kept = {name: safe_towns(case, subject=False) for name, case in CASES.items()}
    assert all(0 < len(towns) < len(TOWNS) for towns in kept.values()), kept
    assert len({tuple(towns) for towns in kept.values()}) > 2


@EVERY
@BOTH
def test_exactly_the_violating_classes_are_left_out(
    tmp_path: Path, name: str, subject: bool
) -> None:
    case = CASES[name]
    table, safe = patients(), safe_towns(case, subject)
    with sqlanon.load(write(tmp_path, case, subject=subject)) as anonymizer:
        release = anonymizer.publish(APART)
    frame = release.to_pandas()
    assert rows_of(frame) == rows_of(table[table["town"].isin(safe)])
    assert checked(tmp_path, case, frame, subject, population()).holds
    document = release.certificate.to_dict()
    found = {each["label"]: each["left_out"] for each in document["suppression"]["subgroups"]}
    lost = Counter(town for town in table["town"] if town not in safe)
    assert {town: found.get(town, 0) for town in TOWNS} == {town: lost[town] for town in TOWNS}
    (model,) = document["privacy"]["models"]
    assert model["required"] in document["words"]["summary"]
    for form in ("certificate", "shareable"):
        again = recheck(
            tmp_path / "town.duckdb", tmp_path / f"released.{form}.json", table="released"
        )
        assert again.differences == ()


@EVERY
@BOTH
def test_a_scheme_that_violates_a_model_is_refused(
    run: Run, tmp_path: Path, name: str, subject: bool
) -> None:
    write(tmp_path, CASES[name], subject=subject, suppression={"limit": 0})
    (tmp_path / "scheme.json").write_text(json.dumps(APART))
    before = contents(tmp_path)
    done = run("publish", "policy.yml", "--scheme", "scheme.json")
    assert (done.status, done.out) == (3, "")
    assert "The release was not published" in done.err
    assert "violate it" in done.err
    assert not [value for value in ("flu", "ulcer", "Rome") if value in done.err]
    assert contents(tmp_path) == before
    assert not list(tmp_path.glob("released*"))


@EVERY
def test_a_search_is_published_and_the_check_agrees(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    policy = write(tmp_path, case, suppression={"limit": 0.3})
    with sqlanon.load(policy) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        release = anonymizer.publish(result)
    frame, everybody = release.to_pandas(), population()
    for label in frame["town"].unique():  # the population, generalized as the release is
        everybody.loc[[town in label for town in everybody["town"]], "town"] = label
    assert checked(tmp_path, case, frame, False, everybody).holds


def contents(folder: Path) -> list[object]:
    with duckdb.connect(folder / "town.duckdb", read_only=True) as connection:
        names = connection.sql("SELECT table_name, comment FROM duckdb_tables() ORDER BY 1")
        return [names.fetchall(), *connection.sql("FROM patients ORDER BY ALL").fetchall()]
