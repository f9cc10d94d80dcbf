"""`sqlanon check --certificate`: whether a release is still the certified one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from command_line import Run
from small_table import POLICY, SCHEME, changed, write_folder

import sqlanon
from sqlanon.release.certificate import digest_of


def published(
    folder: Path, file: str, scheme: dict[str, Any] | None = None, **sections: object
) -> Path:
    policy = write_folder(folder, changed(publish={"file": file}, **sections))
    with sqlanon.load(policy) as anonymizer:
        anonymizer.publish(scheme or SCHEME)
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
    assert "The contents are not those that were certified" in document["differences"][-1]


def test_a_first_line_that_is_too_long_is_refused(run: Run, tmp_path: Path) -> None:
    release = published(tmp_path, "people_anon.csv")
    release.write_text(f"{'a' * 200_000},b\n1,2\n", encoding="utf-8")
    certificate = str(tmp_path / "people_anon.csv.certificate.json")
    done = run("check", str(release), "--certificate", certificate)
    assert done.status == 1
    assert f"{release}: cannot be read (field larger than" in " ".join(done.err.split())


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


@pytest.mark.parametrize("form", ["certificate", "shareable"])
@pytest.mark.parametrize("rows", ["leave_out", "mark"])
def test_a_release_with_suppression_is_as_certified(
    run: Run, tmp_path: Path, rows: str, form: str
) -> None:
    # Two people are alone with their ages, and alike when these are marked.
    fine = {**SCHEME, "columns": {**SCHEME["columns"], "age": {"cuts": [25, 30, 35]}}}
    suppression = {"limit": 0.5, "rows": rows}
    release = published(tmp_path, "people_anon.csv", fine, suppression=suppression)
    file = tmp_path / f"people_anon.csv.{form}.json"
    done = run("check", str(release), "--certificate", str(file))
    assert (done.status, done.err) == (0, "")


def set_in(document: Any, path: str, value: object) -> None:
    """Sets a key of a certificate, such as columns.0.role."""
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        document = document[part]
    document[last] = value


DIGEST = "its digest is not that of its content"
RECOUNTED: dict[str, tuple[Any, str]] = {
    "privacy.sensitive.0.largest_share": (0.01, "largest_share of 'outcome'"),
    "privacy.sensitive.0.fewest_values": (9, "fewest_values of 'outcome'"),
    "privacy.sensitive.0.entropy_l": (9.0, "entropy_l of 'outcome'"),
    "privacy.sensitive.0.recursive_c": (None, "recursive_c of 'outcome' is"),
    "privacy.models.0.bound": (3.0, "distinct l = 3 on 'outcome' fails in"),
    "privacy.largest": (5, "privacy.largest is"),
    "privacy.risk.average": (0.001, "privacy.risk.average is"),
    "privacy.unique": ("1 to 10 %", "privacy.unique is"),
    "privacy.by_rows.k": (4, "k, counted in rows, is"),
    "privacy.bands": ([], "privacy.bands is not what is counted"),
    "privacy.k": (3, "The certificate is not right: it states k = 3, but the smallest class"),
    "release.rows": (7, "The table has 6 rows, 1 fewer"),
    "release.hash": ("00", "The contents are not those"),
    "columns.0.groups_released": (1, "columns.age.groups_released is"),
    "scores.dcn": (1, "scores.dcn is"),
}
"""By key of a certificate another statement, and what is said of it: the table shows these."""
UNSEEN: dict[str, Any] = {
    "words.summary": "Nobody can be found.",
    "privacy.models.1.reached": 0.7,
    "privacy.models": [],
    "privacy.homogeneity": {"columns": ["outcome"], "accept": "x"},
    "suppression.rows": 1,
    "source.rows": 7,
    "columns.0.role": "insensitive",
    "columns.0.loss": 0.0,
    "scores.necd": 0.01,
    "release.id": "another",
    "software": {},
}
"""Statements that the table does not show: they are held by the digest alone."""


def certified(folder: Path) -> Path:
    columns = {**POLICY["columns"], "outcome": {"role": "sensitive"}}
    privacy = {"k": 2, "l_diversity": {"l": 2}, "t_closeness": {"t": 0.5}}
    return published(folder, "people_anon.csv", columns=columns, privacy=privacy)


@pytest.mark.parametrize("form", ["certificate", "shareable"])
@pytest.mark.parametrize("path", [*RECOUNTED, *UNSEEN])
def test_a_changed_statement_is_noticed(run: Run, tmp_path: Path, path: str, form: str) -> None:
    release = certified(tmp_path)
    file = tmp_path / f"people_anon.csv.{form}.json"
    done = run("check", str(release), "--certificate", str(file))
    assert done.status == 0
    assert "is not signed: it shows damage and mistakes, and no forgery" in done.out
    document = json.loads(file.read_text(encoding="utf-8"))
    set_in(document, path, UNSEEN[path] if path in UNSEEN else RECOUNTED[path][0])
    file.write_text(json.dumps(document), encoding="utf-8")
    done = run("check", str(release), "--certificate", str(file))
    assert (done.status, done.out) == (3, "")
    assert DIGEST in done.err
    assert path in UNSEEN or RECOUNTED[path][1] in done.err


@pytest.mark.parametrize("path", RECOUNTED)
def test_a_new_digest_does_not_hide_what_the_table_shows(
    run: Run, tmp_path: Path, path: str
) -> None:
    release = certified(tmp_path)
    file = tmp_path / "people_anon.csv.certificate.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    value, said = RECOUNTED[path]
    set_in(document, path, value)
    document["digest"] = digest_of(document)
    file.write_text(json.dumps(document), encoding="utf-8")
    done = run("check", str(release), "--certificate", str(file))
    assert (done.status, done.out) == (3, "")
    assert said in done.err
    assert DIGEST not in done.err


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("columns", "columns: lists no released column, so this is the certificate of no release"),
        ("privacy.quasi", "privacy.quasi: lists no quasi-identifier"),
    ],
)
def test_a_certificate_of_nothing_is_refused(
    run: Run, tmp_path: Path, path: str, said: str
) -> None:
    release = published(tmp_path, "people_anon.csv")
    file = tmp_path / "people_anon.csv.certificate.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    set_in(document, path, [])
    file.write_text(json.dumps(document), encoding="utf-8")
    done = run("check", str(release), "--certificate", str(file))
    assert (done.status, done.out) == (1, "")
    assert f"{file}: {said}" in done.err


VISITS: dict[str, Any] = {
    "source": {"file": "visits.csv"},
    "columns": {"age": {"role": "quasi", "range": [20, 40], "granularity": 10}},
    "subject": "patient",
    "privacy": {"k": 2},
    "publish": {"file": "visits_anon.csv"},
}


def visits(folder: Path, **columns: object) -> tuple[str, Path]:
    """Two classes of three people and six rows each, released without the patients' names."""
    rows = [f"P{i % 6},{20 + i % 2 * 10}" for i in range(12)]
    (folder / "visits.csv").write_text("patient,age\n" + "\n".join(rows) + "\n")
    policy = {**VISITS, "columns": {**VISITS["columns"], **columns}}
    (folder / "policy.yml").write_text(yaml.safe_dump(policy))
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        anonymizer.publish({"columns": {"age": {"cuts": [30]}}})
    return str(folder / "visits_anon.csv"), folder / "visits_anon.csv.certificate.json"


@pytest.mark.parametrize(
    ("k", "said"),
    [
        (7, "it states k = 7, but the smallest class has 6 rows, and no more people than rows"),
        (5, DIGEST),
    ],
)
def test_a_raised_k_is_noticed_without_the_subject(
    run: Run, tmp_path: Path, k: int, said: str
) -> None:
    release, certificate = visits(tmp_path)
    assert run("check", release, "--certificate", str(certificate)).status == 0
    document = json.loads(certificate.read_text(encoding="utf-8"))
    assert (document["privacy"]["k"], document["privacy"]["by_rows"]["k"]) == (3, 6)
    document["privacy"]["k"] = k
    certificate.write_text(json.dumps(document), encoding="utf-8")
    done = run("check", release, "--certificate", str(certificate))
    assert (done.status, done.out) == (3, "")
    assert said in done.err


def test_people_are_counted_where_they_have_pseudonyms(run: Run, tmp_path: Path) -> None:
    release, certificate = visits(tmp_path, patient={"role": "pseudonym", "accept": "a study"})
    assert run("check", release, "--certificate", str(certificate)).status == 0
    shareable = tmp_path / "visits_anon.csv.shareable.json"
    document = json.loads(shareable.read_text(encoding="utf-8"))
    document["privacy"]["k"], document["privacy"]["risk"]["highest"] = 5, 0.2
    shareable.write_text(json.dumps(document), encoding="utf-8")
    done = run("check", release, "--certificate", str(shareable))
    assert (done.status, done.out) == (3, "")
    assert "k, counted in people, is 3; certified is 5." in done.err


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--k", "5"], "--k cannot be given"),
        (["--qi", "age", "--k", "5"], "--qi and --k cannot be given"),
        (["--subject", "age"], "--subject cannot be given"),
        (["--sensitive", "age"], "--sensitive cannot be given"),
        (["--threshold", "0.2"], "--threshold cannot be given"),
        (["--show-values"], "--show-values cannot be given"),
    ],
)
def test_what_a_certificate_answers_cannot_be_asked_for(
    run: Run, tmp_path: Path, options: list[str], named: str
) -> None:
    release, certificate = visits(tmp_path)
    done = run("check", release, "--certificate", str(certificate), *options)
    assert (done.status, done.out) == (2, "")
    assert f"{named} with --certificate" in done.err
