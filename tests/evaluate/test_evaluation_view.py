"""The view `evaluation` derives from the tables in SQL what the evaluator says."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from golden_files import assert_golden
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import Case, cases
from score_oracle import scores
from test_paper_tables import EMPLOYEES, POINTS, TABLE_2
from test_scores_property import rules
from test_scores_property import same as same_as_oracle

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.hierarchy_builders import masked
from sqlanon.domain.scheme import from_levels
from sqlanon.engines.registry import open_source
from sqlanon.errors import EngineError
from sqlanon.evaluate import Search
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.evaluate.workspace import Workspace, view_sql
from sqlanon.metrics import further
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression


def search(k: int, preference: Preference | None) -> Search:
    return Search("by hand", 1, {}, k, k, preference)


def test_the_view_reads_as_one_query() -> None:
    assert_golden("workspace/evaluation", view_sql())


@pytest.mark.parametrize("point", range(5))
def test_table_2_of_the_preference_paper(point: int) -> None:
    """The paper's numbers, two digits each: NECD, NWP, k and ach at one of its points."""
    classes = Hierarchy.from_rows([["C1", "C12", "*"], ["C2", "C12", "*"], ["C3", "C3", "*"]], "")
    histogram = count(
        open_source(data=EMPLOYEES),
        [
            Quasi("emp", Family.FULL_DOMAIN, 0.3, hierarchy=lambda values, kind: masked(values)),
            Quasi("sal", Family.FULL_DOMAIN, 0.7, hierarchy=classes),
        ],
    )
    necd, nwp = POINTS[point]
    nodes = [(emp, sal) for sal in (0, 1) for emp in (1, 2, 3, 4)]
    with Evaluator(histogram) as evaluator:
        evaluator.begin(search(3, Preference(bias=necd, loss=nwp)))
        evaluator.score([from_levels(histogram.space.columns, n) for n in nodes])
        found = evaluator.workspace.query("FROM evaluation ORDER BY number").to_pylist()
        trade_off = evaluator.workspace.query("SELECT k, nwp, necd FROM evaluation ORDER BY nwp")
    lines = [line.split() for line in TABLE_2.strip().splitlines()]
    for row, line in zip(found, lines, strict=True):
        shown = [f"{row['necd']:.2f}", f"{row['nwp']:.2f}", str(row["k"])]
        assert [*shown, f"{row['ach']:.2f}"] == [*line[:3], line[4 + point]]
        assert row["feasible"] == (int(line[2]) >= 3)
        if point == 4:
            assert f"{row['pref_dev']:.2f}" == line[9]
    losses = [f"{loss:.2f}" for loss in trade_off["nwp"].to_pylist()]
    assert losses == sorted(line[1] for line in lines)


@settings(max_examples=20, deadline=None)
@given(case=cases(), batch=st.sampled_from([1, 9]))
def test_every_score_of_random_schemes(case: Case, batch: int) -> None:
    histogram = case.histogram()
    bits = list({case.random_bits() for _ in range(batch)})
    schemes = histogram.space.batch([case.scheme(histogram, each) for each in bits])
    for suppression, rule in rules(case.rows):
        label = "label" if case.label is not None else None
        with Evaluator(
            histogram, suppression=suppression, label=label, further=further()
        ) as evaluator:
            found = evaluator.score(schemes)
            rows = evaluator.workspace.query("FROM evaluation").to_pylist()
        by_scheme = {row["scheme"]: row for row in rows}
        assert len(by_scheme) == len(rows) == len({schemes.packed(i) for i in range(len(schemes))})
        for i, each in enumerate(bits):
            row = by_scheme[schemes.packed(i)]
            for name, value in found.row(i).items():
                if value is None:
                    assert row[name] is None
                else:
                    assert math.isclose(row[name], value, rel_tol=1e-12, abs_tol=1e-12), name
            wanted = scores(case.oracle(each), subject=case.subject, label=case.label, rule=rule)
            same_as_oracle(row, wanted)


def small() -> Any:
    table = pa.table({"age": [1, 2, 3, 4, 4, 4, 2, 2, 1, 1], "sex": list("fmffmfmmff")})
    return count(open_source(data=table), [Quasi("age"), Quasi("sex")])


BITS = np.array([[1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]], dtype=bool)


def test_a_run_shows_what_it_recalled_and_nothing_else() -> None:
    histogram = small()
    batch = histogram.space.batch_of_bits(BITS)
    with Evaluator(histogram) as evaluator:
        evaluator.begin(search(2, None))
        evaluator.score(batch.take([0, 1]))
        evaluator.begin(search(3, None))
        evaluator.score(batch.take([1, 2]))
        evaluator.score(batch.take([2, 1]))
        ask = "SELECT run, list(scheme ORDER BY scheme) AS s FROM evaluation GROUP BY run"
        found = {row["run"]: row["s"] for row in evaluator.workspace.query(ask).to_pylist()}
        assert len(evaluator.workspace.query("FROM measurement")) == 3
    met = {1: (0, 1), 2: (1, 2)}
    assert found == {run: sorted(map(batch.packed, rows)) for run, rows in met.items()}


def test_what_a_query_may_not(tmp_path: Any) -> None:
    secret = pa.table({"a": [1]})  # a variable of Python, which no query may read
    (tmp_path / "people.csv").write_text("age\n30\n")
    with Workspace(tmp_path / "work.duckdb") as workspace:
        for query, why in {
            f"FROM '{tmp_path}/people.csv'": "does not exist|file system operations are disabled",
            f"FROM read_csv('{tmp_path}/people.csv')": "file system operations are disabled",
            "FROM secret": "secret does not exist",
            "DROP TABLE run": "one SELECT",
            "FROM run; DROP TABLE run": "one SELECT",
            f"COPY run TO '{tmp_path}/run.csv'": "one SELECT",
            "SET enable_external_access = true": "one SELECT",
            f"ATTACH '{tmp_path}/other.duckdb'": "one SELECT",
            "WITH gone AS (DELETE FROM run RETURNING *) FROM gone": "read-only",
            "FROM evaluation WHERE q >= 5": "q",
            "FROM evaluation WHERE (": "syntax error",
        }.items():
            with pytest.raises(EngineError, match=why):
                workspace.query(query)
        assert len(workspace.query("FROM run")) == 0
    assert {each.name for each in tmp_path.iterdir()} == {"people.csv", "work.duckdb"}
    assert len(secret) == 1


def test_tables_in_memory_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlanon.evaluate.workspace.FLUSH_EVERY", 500)
    monkeypatch.setattr("sqlanon.evaluate.workspace.COMPRESS_EVERY", 2**16)
    monkeypatch.setattr("sqlanon.evaluate.workspace.MOST_BYTES", 1_000_000)
    rng = np.random.default_rng(1)
    table = pa.table({name: rng.integers(0, 20, 300) for name in "abcd"})
    histogram = count(open_source(data=table), [Quasi(name) for name in "abcd"])
    bits = np.unique(rng.random((6_000, histogram.space.positions)) < 0.3, axis=0)
    with Evaluator(histogram, workers=1) as evaluator:
        for part in np.array_split(bits, 12):
            evaluator.score(histogram.space.batch_of_bits(part))
        distinct = evaluator.effort.distinct
        ask = evaluator.workspace.query
        (run,) = ask("FROM run").to_pylist()
        left = ask("SELECT count(*) AS n, max(number) AS last FROM measurement").to_pylist()[0]
        ((taken,),) = evaluator.workspace._connection.execute(
            "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
        ).fetchall()
    assert run["forgotten"] > 0
    assert left["n"] + run["forgotten"] == left["last"] == distinct
    assert taken < 3_000_000


FORMER = """
CREATE TABLE evaluation (
  histogram VARCHAR, label VARCHAR, demands VARCHAR, scheme VARCHAR, below BIGINT, budget BIGINT,
  loss BIGINT[], size BIGINT[], classes BIGINT[], rows BIGINT[], rows_squared BIGINT[],
  minority BIGINT[], small_loss BIGINT[], bad BIGINT[], reached DOUBLE[], ambiguity DOUBLE[],
  PRIMARY KEY (histogram, label, demands, scheme)
)
"""
"""As the former version made it."""


def test_a_workspace_of_the_former_layout_is_replaced(tmp_path: Any) -> None:
    path = tmp_path / "work.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(FORMER)
        connection.execute(
            "INSERT INTO evaluation BY NAME SELECT 'h' AS histogram, '' AS label, '' AS demands, "
            "'s' AS scheme"
        )
    with Workspace(path) as workspace:
        assert len(workspace.query("FROM evaluation")) == 0
        assert workspace.note is not None
        assert "was made by an older version of sqlanon" in workspace.note
        assert workspace.is_file
    with Workspace(path) as workspace:
        assert len(workspace.query("FROM evaluation")) == 0
        assert workspace.note is None


def test_an_old_run_is_removed(tmp_path: Any) -> None:
    path, histogram = tmp_path / "work.duckdb", small()
    for _ in range(2):
        with Evaluator(histogram, workspace=path) as evaluator:
            evaluator.begin(search(2, None))
            evaluator.score(histogram.space.batch_of_bits(BITS))
        with duckdb.connect(path) as connection:
            connection.execute("UPDATE run SET started = started - INTERVAL 20 DAY")
    with Workspace(path, days=30) as workspace:
        (row,) = workspace.query("SELECT run FROM run").to_pylist()
        assert row == {"run": 2}
        assert len(workspace.query("FROM measurement")) == 0, "the first run had measured them"
    with Workspace(path, days=10) as workspace:
        assert len(workspace.query("FROM run")) == 0


def test_a_folder_that_is_made_for_it(tmp_path: Any) -> None:
    path = tmp_path / "kept" / "work.duckdb"
    with Workspace(path) as workspace:
        assert not path.exists(), "it is made when it is needed"
        workspace.query("FROM run")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_a_file_that_cannot_be_written_any_more(tmp_path: Any) -> None:
    """As on a full disk: what DuckDB raises when it is closed under our feet stands for that."""
    path, histogram = tmp_path / "work.duckdb", small()
    batch = histogram.space.batch_of_bits(BITS)
    with Evaluator(histogram, workspace=path) as evaluator:
        evaluator.begin(search(2, None))
        evaluator.score(batch)
        evaluator.workspace._connection.close()
        found = evaluator.workspace.query("FROM evaluation")
        assert evaluator.workspace.note is not None
        assert "measurements are kept in memory" in evaluator.workspace.note
    assert len(found) == len(batch)


def test_schemes_hold_no_values(tmp_path: Any) -> None:
    path = tmp_path / "work.duckdb"
    table = pa.table({"town": ["Xanadu", "Yverdon", "Zwickau"] * 3})
    histogram = count(open_source(data=table), [Quasi("town")])
    with Evaluator(histogram, workspace=path, suppression=Suppression()) as evaluator:
        evaluator.score(histogram.space.batch_of_bits(np.array([[1, 0], [0, 1]], dtype=bool)))
    content = path.read_bytes()
    assert b"town" in content
    assert not any(value in content for value in (b"Xanadu", b"Yverdon", b"Zwickau"))
