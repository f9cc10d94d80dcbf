"""When a certificate is made and written, and what a publish says when that fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
import town_table
from command_line import Run, message
from town_table import APART, GOOD, POLICY, tables

import sqlanon
from sqlanon.errors import CertificateError, EngineError, PublishError, SchemeError
from sqlanon.release.certificate import Certificate

OWN: dict[str, Any] = {**POLICY, "source": {"table": "people"}}
NAME = "released.certificate.json"


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as opened:
        opened.execute(town_table.SQL)
        yield opened


def fail(*_: object, **__: object) -> Any:
    raise CertificateError("a certificate that cannot be made")


@pytest.mark.parametrize("place", [{"to": "released"}, {"mode": "replace"}, {"file": "out.csv"}])
@pytest.mark.parametrize("step", ["pipeline.certify", "certificate.Certificate.write_page"])
def test_without_a_certificate_nothing_is_published(
    place: dict[str, str], step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = town_table.make(tmp_path, publish=place)
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(f"sqlanon.release.{step}", fail)
    with (
        sqlanon.load(policy) as anonymizer,
        pytest.raises(CertificateError, match="cannot be made"),
    ):
        anonymizer.publish(GOOD)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert tables(tmp_path) == ["people"]
    assert town_table.rows(tmp_path, "SELECT count(name) FROM people") == [(60,)]


def test_a_callers_transaction_goes_on_without_the_release(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlanon.release.pipeline.certify", fail)
    connection.execute("BEGIN")
    with sqlanon.load(OWN, connection=connection) as anonymizer, pytest.raises(CertificateError):
        anonymizer.publish(GOOD)
    connection.execute("COMMIT")
    found = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert found == [("people",)]


def test_a_file_that_cannot_be_put_in_place_is_told_as_that(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    (tmp_path / "released.shareable.html").mkdir()
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    assert said.startswith(
        "error: The release was published as people.main.released, but the certificate could "
        "not be written: released.shareable.html ("
    )
    assert tables(tmp_path) == ["people", "released"]
    assert not list(tmp_path.glob(".sqlanon*"))


def test_a_failed_rewrite_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = town_table.make(tmp_path, publish={"mode": "replace"})

    def refuse(*_: object, memory: str | None) -> None:
        raise PublishError("The new file differs. Nothing was changed.")

    monkeypatch.setattr("sqlanon.release.pipeline.rewrite_database", refuse)
    with sqlanon.load(policy) as anonymizer:
        with pytest.raises(EngineError) as caught:
            anonymizer.publish(GOOD, rewrite=True)
        assert [info.name for info in anonymizer.source.columns] == ["age", "town", "illness"]
    assert "The release was published as people.main.people, but" in str(caught.value)
    assert str(caught.value).endswith("The new file differs.")


def test_what_remains_after_a_rewrite(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, publish={"mode": "replace"})
    command = ("publish", "policy.yml", "--scheme", "good.json", "--yes", "--rewrite")
    assert json.loads(run(*command, "--json").out)["remains"] == [
        "rows of the source are in every backup and copy of the database"
    ]


def test_in_a_transaction_the_caller_writes_the_certificate_after_the_commit(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    policy = town_table.make(tmp_path, source={"table": "people"})
    with sqlanon.load(policy, connection=connection) as anonymizer:
        first = anonymizer.publish(GOOD)
        before = (tmp_path / NAME).read_bytes()
        connection.execute("BEGIN")
        with pytest.raises(PublishError, match=r"release\.write_certificate\(folder\)"):
            anonymizer.publish(APART, certificates=tmp_path)
        second = anonymizer.publish(APART)
        assert second.files == ()
        assert (tmp_path / NAME).read_bytes() == before
        connection.execute("COMMIT")
    for _ in range(2):
        written = second.write_certificate(tmp_path)
        assert sorted(written) == sorted(first.files)
        document = Certificate.read(tmp_path / NAME).document
        assert document.release.id == second.certificate.document.release.id
        assert [p.id for p in document.lineage.earlier] == [first.certificate.document.release.id]
    assert not list(tmp_path.glob(".sqlanon*"))


def test_names_that_differ_have_files_that_differ(tmp_path: Path) -> None:
    for name in ('"a b"', "a_b"):
        policy = town_table.make(tmp_path, publish={"to": name})
        with sqlanon.load(policy) as anonymizer:
            assert len(anonymizer.publish(GOOD).files) == 4
    assert len(list(tmp_path.glob("a_b*.certificate.json"))) == 2
    assert (tmp_path / "a_b.certificate.json").exists()


def test_a_certificate_of_another_target_is_not_replaced(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path)
    assert run("publish", "policy.yml", "--scheme", "good.json").status == 0
    before = (tmp_path / NAME).read_bytes()
    town_table.make(tmp_path, publish={"to": "released", "connection": "duckdb:///new.duckdb"})
    said = message(1, run("publish", "policy.yml", "--scheme", "good.json"))
    assert f"{NAME}: is the certificate of people.main.released, and that of " in said
    assert "--certificates" in said
    assert (tmp_path / NAME).read_bytes() == before
    assert not (tmp_path / "new.duckdb").exists()


def test_a_scheme_of_another_policy(connection: duckdb.DuckDBPyConnection) -> None:
    columns = {**POLICY["columns"], "town": {"role": "insensitive"}}
    with sqlanon.load({**OWN, "columns": columns}, connection=connection) as other:
        scheme = other.scheme({"columns": {"age": {"cuts": [40]}}})
    with sqlanon.load(OWN, connection=connection) as anonymizer:
        for call in (anonymizer.publish, anonymizer.dry_run, anonymizer.sql):
            with pytest.raises(SchemeError, match=r"columns 'age', but .* 'age', 'town'"):
                call(scheme)


@pytest.mark.parametrize(
    "place", [{"to": "released"}, {"connection": "duckdb:///new.duckdb", "to": "released"}]
)
def test_a_dry_run_opens_nothing_for_writing(
    place: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = town_table.make(tmp_path, publish=place)
    with sqlanon.load(policy) as anonymizer:
        (tmp_path / "people.duckdb").chmod(0o400)
        monkeypatch.setattr("sqlanon.engines.duckdb._make", fail)
        statements = anonymizer.dry_run(GOOD)
        assert any("released" in statement for statement in statements)
        assert len(anonymizer.type_changes(GOOD)) == 2
        with duckdb.connect(tmp_path / "people.duckdb", read_only=True):
            assert anonymizer.dry_run(GOOD) == statements  # a writer could not open it now
    assert not (tmp_path / "new.duckdb").exists()
