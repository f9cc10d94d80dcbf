"""What commands write replaces a file of its own kind and nothing else."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import duckdb
import pytest
from command_line import Run, message
from small_table import changed, write_folder

import sqlanon
from sqlanon.errors import EngineError, SqlanonError

HIERARCHY = "F,*\nM,*\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    columns = changed()["columns"] | {"sex": {"role": "quasi", "hierarchy": "sex.csv"}}
    write_folder(tmp_path, changed(columns=columns, publish={"file": "out.csv"}))
    (tmp_path / "sex.csv").write_text(HIERARCHY, encoding="utf-8")
    (tmp_path / "mine.json").write_text('{"mine": 1}\n', encoding="utf-8")
    (tmp_path / "link.json").symlink_to("people.csv")
    os.link(tmp_path / "policy.yml", tmp_path / "hard.json")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("people.csv", "is the source of the policy; name another file with --output"),
        ("link.json", "is the source of the policy"),
        ("policy.yml", "is the policy itself"),
        ("hard.json", "is the policy itself"),
        ("sex.csv", "is the hierarchy of column 'sex'"),
        ("out.csv", "is where the policy publishes to"),
        ("work.duckdb", "is the workspace"),
        ("scheme.json", "exists and is not a result file of sqlanon, so it is left as it is; name "
         "another file with --output, or delete it first"),
        ("mine.json", "exists and is not a result file of sqlanon"),
    ],
)  # fmt: skip
def test_a_search_writes_over_results_only(run: Run, folder: Path, output: str, said: str) -> None:
    before = contents(folder)
    done = run("search", "policy.yml", "-o", output, "--workspace", "work.duckdb")
    assert message(1, done).startswith(f"error: {output}: {said}")
    assert contents(folder) == before


def test_its_own_kind_and_an_empty_file_are_replaced(run: Run, folder: Path) -> None:
    (folder / "empty.json").touch()
    for output in ("result.json", "result.json", "empty.json", "/dev/null"):
        assert run("search", "policy.yml", "-q", "-o", output).status == 0
    assert run("choose", "result.json", "-o", "scheme.json").status == 0
    assert run("choose", "result.json", "-o", "scheme.json").status == 0
    assert run("schema", "-o", "policy.schema.json").status == 0
    assert run("schema", "-o", "policy.schema.json").status == 0


def test_choose_and_schema(run: Run, folder: Path) -> None:
    assert run("search", "policy.yml", "-q").status == 0
    before = contents(folder)
    for output in ("people.csv", "mine.json"):
        said = message(1, run("choose", "result.json", "0", "-o", output))
        assert said.startswith(f"error: {output}: exists and is not a scheme file of sqlanon")
        said = message(1, run("schema", "-o", output))
        assert said.startswith(f"error: {output}: exists and is not the JSON Schema of policies")
    said = message(1, run("choose", "result.json#0", "-o", "./result.json"))
    assert said.startswith("error: result.json: is the file that is read; name another file")
    assert contents(folder) == before


def test_the_database_of_a_policy(run: Run, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "ware.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS FROM (VALUES (21, 'F', 'a')) t (age, sex, outcome)"
        )
    source = {"connection": "duckdb:///ware.duckdb", "table": "people"}
    to = {"connection": "duckdb:///share.duckdb", "to": "anon"}
    write_folder(tmp_path, changed(source=source, publish=to))
    before = contents(tmp_path)
    for option in ("-o", "--workspace"):
        done = run("search", "policy.yml", option, "ware.duckdb")
        assert "error: ware.duckdb: is the database of the policy's source" in message(1, done)
        done = run("search", "policy.yml", option, "share.duckdb")
        assert "share.duckdb: is the database that the policy publishes to" in message(1, done)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("made", ["TABLE t (a INT)", "VIEW v AS SELECT 1 AS a"])
def test_a_foreign_database_is_no_workspace(run: Run, folder: Path, made: str) -> None:
    file = folder / "other.duckdb"
    with duckdb.connect(file) as connection:
        connection.execute(f"CREATE {made}")
    file.chmod(0o644)
    before = file.read_bytes()
    said = message(1, run("search", "policy.yml", "--workspace", "other.duckdb"))
    assert said == (
        "error: Workspace other.duckdb is a database with tables of its own, and no workspace; it "
        "is left as it is. Name a file that does not exist yet."
    )
    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o644
    assert not (folder / "result.json").exists()


def test_what_may_be_a_workspace(folder: Path) -> None:
    with duckdb.connect(folder / "bare.duckdb"):
        pass
    (folder / "empty.duckdb").touch()
    for name in ("new.duckdb", "new.duckdb", "bare.duckdb", "empty.duckdb"):
        with sqlanon.load(folder / "policy.yml", workspace=folder / name) as anonymizer:
            anonymizer.measure(folder / "scheme.json")
            anonymizer.search()  # the same workspace, open a second time
    with pytest.raises(EngineError, match="is a folder; name a file in it"):
        sqlanon.load(folder / "policy.yml", workspace=folder)


def test_a_walk_is_saved_over_walks_only(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["save people.csv", "save mine.json", "save walk.json", "save walk.json", "quit"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(answers)))
    before = contents(folder)
    done = run("search", "policy.yml", "--method", "reference-direction", "-q")
    assert "people.csv: is the source of the policy; name another file" in done.err
    assert "mine.json: exists and is not a saved walk of sqlanon" in done.err
    assert "steps" in json.loads((folder / "walk.json").read_text(encoding="utf-8"))
    assert contents(folder) == before | {"walk.json": (folder / "walk.json").read_bytes()}


@pytest.mark.parametrize("name", ["adult.parquet", "result.json", "release.sql"])
def test_the_demo_leaves_files_of_others(run: Run, tmp_path: Path, name: str) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / name).write_text("{}", encoding="utf-8")
    said = message(1, run("demo", "--folder", "there"))
    path = Path("there") / name
    assert said == (
        f"error: {path} is not the demo's, and the demo would replace it; name another --folder"
    )
    assert contents(there) == {name: b"{}"}


@pytest.mark.parametrize("output", ["people.csv", "policy.yml", "scheme.json", "mine.json"])
def test_python_writes_results_over_results_only(folder: Path, output: str) -> None:
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        result = anonymizer.search()
    before = contents(folder)
    with pytest.raises(SqlanonError) as refused:
        result.write(folder / output)
    assert str(refused.value) == (
        f"{folder / output}: exists and is not a result file of sqlanon, so it is left as it is; "
        "give another path, or delete it first"
    )
    assert contents(folder) == before
    for _ in range(2):
        result.write(str(folder / "result.json"))
    assert json.loads((folder / "result.json").read_bytes())["method"] == "auto"
