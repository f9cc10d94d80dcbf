"""Models and a population wherever a release goes; nothing overwrites the population."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import yaml
from command_line import Run, message
from model_cases import APART, CASES, TOWNS, Case, patients, population, rows_of, write

import sqlanon
from sqlanon.errors import EngineError, PolicyError, PublishError

# Rome has one illness, and Lima is far from the whole source; Oslo's 13 people are too few.
EVERYTHING = Case(
    {"l_diversity": {"l": 2}, "t_closeness": {"t": 0.3}, "k_map": 14},
    {},
    lambda p, q: p.distinct() < 2 or p.equal(q) > Fraction(3, 10),
    sections={"population": {"table": "everybody"}},
)
SAFE = ["Bonn"]


def expected() -> list[Any]:
    table = patients()
    return rows_of(table[table["town"].isin(SAFE)])


def test_what_is_expected() -> None:
    """By the oracle, model by model."""
    table = patients()
    values = replace(EVERYTHING, privacy={})
    by_values = [town for town in TOWNS if not values.is_unsafe(table, town, False, 3)]
    everybody = population()["town"].value_counts()
    assert [town for town in by_values if everybody[town] >= 14] == SAFE
    assert by_values != SAFE


PLACES: dict[str, dict[str, Any]] = {
    "table": {"to": "released"},
    "replace": {"mode": "replace"},
    "view": {"mode": "view", "to": "released"},
    "csv": {"file": "released.csv"},
    "parquet": {"file": "released.parquet"},
    "elsewhere": {"connection": "duckdb:///other.duckdb", "to": "released"},
}
POPULATIONS: dict[str, dict[str, Any]] = {
    "table": {"table": "everybody"},
    "query": {"query": "SELECT town FROM everybody WHERE town IS NOT NULL"},
    "file": {"file": "everybody.parquet"},
}


@pytest.mark.parametrize("kind", POPULATIONS)
@pytest.mark.parametrize("place", PLACES)
def test_every_place(tmp_path: Path, place: str, kind: str) -> None:
    population().to_parquet(tmp_path / "everybody.parquet")
    if place == "view" and kind == "file":
        return  # refused, see below
    duckdb.connect(tmp_path / "other.duckdb").close()
    policy = write(
        tmp_path, EVERYTHING, population=POPULATIONS[kind], publish=PLACES[place]
    )  # fmt: skip
    with sqlanon.load(policy) as anonymizer:
        statements = anonymizer.dry_run(APART)
        release = anonymizer.publish(APART)
    assert rows_of(plain(release.to_pandas())) == expected()
    journalist = release.certificate.to_dict()["privacy"]["journalist"]
    assert (journalist["k_map"], journalist["population"]) == (30, len(population()))
    written = [each for each in statements if "unsafe_classes" in each]
    assert written
    if place in ("view", "elsewhere") and kind != "file":
        assert all('"town"."main"."everybody"' in each for each in written)


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """A CSV file holds texts."""
    return frame.assign(pay=frame["pay"].astype(int))


@pytest.mark.parametrize("commit", [True, False])
def test_in_the_transaction_of_a_caller(tmp_path: Path, commit: bool) -> None:
    policy = yaml.safe_load(write(tmp_path, EVERYTHING).read_text())
    policy["source"] = {"table": "patients"}
    with duckdb.connect(tmp_path / "town.duckdb") as connection:
        connection.begin()
        connection.execute("INSERT INTO everybody SELECT 'Oslo'")  # 14 now, here only
        with sqlanon.load(policy, connection=connection) as anonymizer:
            anonymizer.publish(APART)
        connection.commit() if commit else connection.rollback()
        tables = connection.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        assert (("released",) in tables) is commit
        if commit:
            towns = connection.sql("SELECT DISTINCT town FROM released ORDER BY 1").fetchall()
            assert towns == [("Bonn",), ("Oslo",)]


def test_a_view_keeps_the_models_when_its_source_changes(tmp_path: Path) -> None:
    policy = write(tmp_path, EVERYTHING, publish=PLACES["view"])
    with sqlanon.load(policy) as anonymizer:
        anonymizer.publish(APART)
    with duckdb.connect(tmp_path / "town.duckdb") as connection:
        assert rows_of(connection.sql("FROM released").df()) == expected()
        connection.execute("INSERT INTO everybody SELECT 'Oslo'")
        towns = "SELECT DISTINCT town FROM released ORDER BY 1"
        assert connection.sql(towns).fetchall() == [("Bonn",), ("Oslo",)]
        connection.execute("UPDATE patients SET ill = 'flu' WHERE town = 'Bonn'")
        assert connection.sql(towns).fetchall() == [("Oslo",)]


def test_a_view_cannot_read_a_population_elsewhere(tmp_path: Path) -> None:
    population().to_parquet(tmp_path / "everybody.parquet")
    sections = {"population": POPULATIONS["file"], "publish": PLACES["view"]}
    with pytest.raises(PolicyError, match="a view with k_map counts the population"):
        sqlanon.load(write(tmp_path, EVERYTHING, **sections))
    privacy = {"k": 3, "l_diversity": {"l": 2}}
    policy = write(tmp_path, EVERYTHING, privacy=privacy, **sections)
    with sqlanon.load(policy) as anonymizer:  # only the certificate looks at it
        assert anonymizer.publish(APART).certificate.to_dict()["privacy"]["journalist"]


@pytest.mark.parametrize("kind", ["table", "query"])
def test_the_population_is_no_target(tmp_path: Path, kind: str) -> None:
    policy = write(
        tmp_path, EVERYTHING, population=POPULATIONS[kind], publish={"to": "everybody"}
    )  # fmt: skip
    with duckdb.connect(tmp_path / "town.duckdb") as connection:
        connection.execute("COMMENT ON TABLE everybody IS 'released by sqlanon'")
    with (
        sqlanon.load(policy) as anonymizer,
        pytest.raises(PublishError, match="is the population, or one of the tables that it reads"),
    ):
        anonymizer.publish(APART)


def test_the_file_of_the_population_is_kept(run: Run, tmp_path: Path) -> None:
    population().to_parquet(tmp_path / "everybody.parquet")
    write(
        tmp_path, EVERYTHING, population=POPULATIONS["file"], publish={"file": "everybody.parquet"}
    )  # fmt: skip
    before = (tmp_path / "everybody.parquet").read_bytes()
    (tmp_path / "scheme.json").write_text(json.dumps(APART))
    said = message(1, run("publish", "policy.yml", "--scheme", "scheme.json", "--yes"))
    assert "is the population itself, or part of it" in said
    write(tmp_path, EVERYTHING, population=POPULATIONS["file"])
    said = message(1, run("search", "policy.yml", "-o", "everybody.parquet"))
    assert "the population of the policy" in said
    assert (tmp_path / "everybody.parquet").read_bytes() == before


def test_a_database_that_is_the_populations(tmp_path: Path) -> None:
    policy = write(tmp_path, CASES["k-map"])
    with pytest.raises(EngineError, match="a workspace is a file of its own"):
        sqlanon.load(policy, workspace=tmp_path / "town.duckdb")


@pytest.mark.parametrize("name", ["people.csv", "People.parquet"])
def test_source_and_population_of_one_name(tmp_path: Path, name: str) -> None:
    """In another database both files become tables, and these are two."""
    patients().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "all").mkdir()
    write_to = population().to_csv if name.endswith("csv") else population().to_parquet
    write_to(tmp_path / "all" / name, index=False)
    policy = write(
        tmp_path,
        EVERYTHING,
        source={"file": "people.csv"},
        population={"file": f"all/{name}"},
        publish={"file": "released.csv"},
    )
    with sqlanon.load(policy) as anonymizer:
        text = anonymizer.sql(APART, dialect="postgres")
    stem = name.split(".", maxsplit=1)[0]
    assert 'FROM "people" AS "source"' in text
    assert f'FROM "{stem}_population" AS "population"' in text
    assert f"reads a table '{stem}_population'" in text
