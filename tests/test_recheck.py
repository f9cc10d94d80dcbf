"""`sqlanon check --certificate`: whether a release is still the certified one."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from command_line import Run
from small_table import SCHEME, changed, write_folder

import sqlanon


def published(folder: Path, file: str) -> Path:
    policy = write_folder(folder, changed(publish={"file": file}))
    with sqlanon.load(policy) as anonymizer:
        anonymizer.publish(SCHEME)
    return folder / file


@pytest.mark.parametrize("file", ["people_anon.csv", "people_anon.parquet"])
@pytest.mark.parametrize("form", ["certificate", "shareable"])
def test_a_release_is_as_certified(run: Run, tmp_path: Path, file: str, form: str) -> None:
    release = published(tmp_path, file)
    done = run("check", str(release), "--certificate", str(tmp_path / f"{file}.{form}.json"))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("the table is release ")


def test_a_changed_value_is_noticed(run: Run, tmp_path: Path) -> None:
    release = published(tmp_path, "people_anon.csv")
    text = release.read_text(encoding="utf-8")
    release.write_text(text.replace('"no"', '"yes"', 1), encoding="utf-8")
    options = ["--certificate", str(tmp_path / "people_anon.csv.certificate.json"), "--json"]
    done = run("check", str(release), *options)
    assert done.status == 3
    document = json.loads(done.out)
    assert document["holds"] is False
    (difference,) = document["differences"]
    assert "The contents are not those that were certified" in difference


def test_a_lost_row_is_noticed(run: Run, tmp_path: Path) -> None:
    release = published(tmp_path, "people_anon.parquet")
    short = tmp_path / "short.parquet"
    duckdb.sql(
        f"SELECT * FROM '{release}' WHERE age <> '[35, 40]' OR outcome = 'no'"
    ).write_parquet(str(short))
    done = run(
        "check", str(short), "--certificate", str(tmp_path / "people_anon.parquet.shareable.json")
    )
    assert done.status == 3
    assert "The table has 5 rows, 1 fewer than the 6 certified." in done.err
    assert "k is 1, required are 2" in done.err


def test_other_columns_are_named(run: Run, tmp_path: Path) -> None:
    published(tmp_path, "people_anon.csv")
    certificate = str(tmp_path / "people_anon.csv.certificate.json")
    done = run("check", str(tmp_path / "people.csv"), "--certificate", certificate)
    assert done.status == 3
    assert "age" not in done.out
    duckdb.sql("SELECT 1 AS other").write_csv(str(tmp_path / "other.csv"))
    done = run("check", str(tmp_path / "other.csv"), "--certificate", certificate)
    assert "The table lacks the columns 'age', 'sex', 'outcome'" in done.err
    assert "The table has the column 'other'" in done.err


def test_mistakes(run: Run, tmp_path: Path) -> None:
    release = published(tmp_path, "people_anon.csv")
    done = run("check", str(release))
    assert (done.status, "--qi" in done.err) == (2, True)
    done = run("check", str(release), "--certificate", str(release))
    assert (done.status, "is not JSON" in done.err) == (1, True)
