"""What was measured once is not measured again, and nothing else is served in its place."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source
from sqlanon.errors import EngineError
from sqlanon.evaluate.evaluator import Effort, Evaluator
from sqlanon.evaluate.workspace import FLUSH_EVERY, Basis, Workspace, refuse_other_database
from sqlanon.metrics.scores import Scores
from sqlanon.metrics.suppression import Suppression

BITS = np.array([[1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]], dtype=bool)
TABLE = {
    "age": [1, 2, 3, 4, 4, 4, 2, 2, 1, 1, 3, 3],
    "sex": ["f", "m", "f", "f", "m", "f", "m", "m", "f", "f", "m", "m"],
    "label": ["a", "b", "a", "a", "b", "b", "b", "a", "a", "a", "b", "b"],
}


def counted(data: dict[str, list] | None = None, **changes: object) -> Histogram:
    age = Quasi("age", **changes)  # type: ignore[arg-type]
    return count(open_source(data=pa.table(data or TABLE)), [age, Quasi("sex")], facets=["label"])


def ask(
    histogram: Histogram, workspace: Path | None, **options: object
) -> tuple[Scores, Evaluator]:
    with Evaluator(histogram, workspace=workspace, **options) as evaluator:  # type: ignore[arg-type]
        space = histogram.space
        bits = np.pad(BITS, ((0, 0), (space.positions - BITS.shape[1], 0)))
        return evaluator.score(space.batch_of_bits(bits)), evaluator


def equal(left: Scores, right: Scores) -> bool:
    return all(left.row(i) == right.row(i) for i in range(len(BITS)))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "work.duckdb"


@pytest.mark.parametrize("label", [None, "label"])
@pytest.mark.parametrize("budget", [0, 4])
def test_a_second_run_asks_nothing(workspace: Path, label: str | None, budget: int) -> None:
    options = {"label": label, "suppression": Suppression(budget=budget)}
    first, effort = ask(counted(), workspace, **options)
    assert effort.effort.queries > 0
    second, again = ask(counted(), workspace, **options)
    assert again.effort == Effort(asked=4, distinct=0, recalled=4, queries=0)
    assert equal(first, second)


def test_weights_families_and_order_of_rows_do_not_matter(workspace: Path) -> None:
    ask(counted(), workspace)
    backwards = {name: cells[::-1] for name, cells in TABLE.items()}
    same = counted(backwards, weight=9.0, family=Family.FULL_DOMAIN)
    found, again = ask(same, workspace)
    assert again.effort.queries == 0
    assert equal(found, ask(same, None)[0])


CHANGES: dict[str, dict] = {
    "a cell": {"data": TABLE | {"age": [2, *TABLE["age"][1:]]}},
    "a label": {"data": TABLE | {"label": ["b", *TABLE["label"][1:]]}},
    "a row more": {"data": {name: [*cells, cells[0]] for name, cells in TABLE.items()}},
    "the values of a column exchanged": {
        "data": TABLE | {"age": [{1: 4, 4: 1}.get(a, a) for a in TABLE["age"]]}
    },
    "an atom without rows": {"values": (1, 2, 3, 4, 5)},
    "the order of the atoms": {"values": (4, 3, 2, 1)},
    "intervals for values": {"range": (0, 8), "granularity": 2},
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_data_and_domains_are_measured_anew(workspace: Path, change: str) -> None:
    ask(counted(), workspace, label="label")
    changed = counted(**CHANGES[change])
    found, again = ask(changed, workspace, label="label")
    assert again.effort.distinct == len(BITS)
    assert equal(found, ask(changed, None, label="label")[0])


def lattice(order: list[str], groups: dict[str, str]) -> Histogram:
    rows = [[value, groups[value], "*"] for value in order]
    tree = Hierarchy.from_rows(rows, "of the test")
    return counted(TABLE | {"age": list(map(str, TABLE["age"]))}, hierarchy=tree)


def test_a_changed_hierarchy_is_measured_anew(workspace: Path) -> None:
    """Level 1 first means {1, 2} | {3, 4}; then {4, 1} | {2, 3}; then {1, 2, 3} | {4}."""
    trees = [
        lattice(list("1234"), {"1": "a", "2": "a", "3": "b", "4": "b"}),
        lattice(list("4123"), {"4": "a", "1": "a", "2": "b", "3": "b"}),
        lattice(list("1234"), {"1": "a", "2": "a", "3": "a", "4": "b"}),
    ]
    nodes = np.array([[1, 1]])
    classes = []
    for histogram in trees:
        with Evaluator(histogram, workspace=workspace) as evaluator:
            found = evaluator.score(histogram.space.batch_of_levels(nodes))
            assert evaluator.effort.distinct == 1
        classes.append((found.k[0], found.k_max[0]))
    # Ages 1 to 4 have 3 rows each.
    assert classes == [(6, 6), (6, 6), (3, 9)]


def test_more_detail_is_asked_for_and_kept(workspace: Path) -> None:
    histogram = counted()
    for budget, queries in [(0, True), (2, True), (4, True), (3, False), (0, False), (5, True)]:
        suppression = Suppression(budget=budget)
        found, again = ask(histogram, workspace, suppression=suppression)
        assert (again.effort.queries > 0) == queries, budget
        assert equal(found, ask(histogram, None, suppression=suppression)[0])
    given_k = Suppression.given_k(3, 0.25, histogram.rows)
    found, again = ask(histogram, workspace, suppression=given_k)
    assert again.effort.queries == 0  # a limit without k knows more than the same limit with k
    assert equal(found, ask(histogram, None, suppression=given_k)[0])


def test_labels_have_measurements_of_their_own(workspace: Path) -> None:
    plain, _ = ask(counted(), workspace)
    labelled, again = ask(counted(), workspace, label="label")
    assert again.effort.queries > 0
    assert plain.row(0)["ce"] is None
    assert labelled.row(0)["ce"] is not None
    assert ask(counted(), workspace)[0].row(0)["ce"] is None


def test_only_the_owner_may_read_the_workspace(workspace: Path) -> None:
    histogram = counted()
    evaluator = Evaluator(histogram, workspace=workspace)
    evaluator.score(histogram.space.batch_of_bits(BITS))
    evaluator.workspace.flush()
    files = list(workspace.parent.iterdir())
    assert workspace in files
    assert len(files) > 1  # DuckDB's log of changes not yet in the file
    assert {oct(f.stat().st_mode & 0o777) for f in files} == {"0o600"}
    evaluator.close()


def test_no_file_is_ever_open_to_others_whatever_the_umask(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The umask belongs to the whole process, whose other threads make files too."""
    before = os.umask(0)
    monkeypatch.setattr(os, "umask", pytest.fail)
    try:
        with Evaluator(counted(), workspace=workspace) as evaluator:
            for _ in range(2):
                evaluator.begin()
                log = workspace.with_name(f"{workspace.name}.wal")
                assert log.stat().st_size > 0
                assert {f.stat().st_mode & 0o777 for f in workspace.parent.iterdir()} == {0o600}
                evaluator.workspace._change("CHECKPOINT")  # removes the log
    finally:
        monkeypatch.undo()
        os.umask(before)


def test_a_run_that_the_tables_refuse_is_an_error(workspace: Path) -> None:
    """It is tried again only where its number was taken, and this one has no columns."""
    refused = pytest.raises(duckdb.ConstraintException, match="NOT NULL")
    with Workspace(workspace) as kept, refused:
        kept.begin(Basis("histogram", "", "demands"), {})


def test_an_older_workspace_is_closed_to_others(workspace: Path) -> None:
    duckdb.connect(workspace).close()
    workspace.chmod(0o644)
    ask(counted(), workspace)
    assert oct(workspace.stat().st_mode & 0o777) == "0o600"


KILLED = """
import os, sys
import numpy as np
sys.path.insert(0, sys.argv[2])
from sqlanon.evaluate import Evaluator, workspace
from test_workspace import BITS, counted
workspace.FLUSH_EVERY = 3
histogram = counted()
evaluator = Evaluator(histogram, workspace=sys.argv[1])
evaluator.score(histogram.space.batch_of_bits(BITS))
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_run_had_written_is_used(workspace: Path) -> None:
    here = str(Path(__file__).parent)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(workspace), here], check=False)
    assert ended.returncode == -9
    found, again = ask(counted(), workspace)
    assert again.effort.distinct == 1  # three of the four had been written
    assert equal(found, ask(counted(), None)[0])


HOLDER = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_a_workspace_in_use_elsewhere(workspace: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(workspace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        found, evaluator = ask(counted(), workspace)
        assert evaluator.workspace.note == (
            f"workspace {workspace}: is open in another process; measurements are kept in memory "
            "until the end"
        )
        holder.communicate()
    assert equal(found, ask(counted(), None)[0])
    assert ask(counted(), workspace)[1].effort.recalled == 0, "nothing was written to it"


def test_a_file_that_is_no_workspace(workspace: Path) -> None:
    workspace.write_text("a text of some length\n" * 500)
    with pytest.raises(EngineError, match=r"work\.duckdb is not a DuckDB database"):
        Evaluator(counted(), workspace=workspace)
    assert workspace.read_text().startswith("a text")


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"there is no folder .*nowhere to make it in"):
        Evaluator(counted(), workspace=tmp_path / "nowhere" / "deeper" / "work.duckdb")
    assert not (tmp_path / "nowhere").exists()


def test_a_database_with_another_table_of_that_name(workspace: Path) -> None:
    with duckdb.connect(workspace) as connection:
        connection.execute("CREATE TABLE evaluation (scheme INTEGER)")
    with pytest.raises(EngineError, match="was not made by this version of sqlanon"):
        Evaluator(counted(), workspace=workspace)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n30\n31\n")
    path.chmod(0o644)
    with pytest.raises(EngineError, match=r"people\.csv is not a DuckDB database"):
        Workspace(path).query("FROM run")
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.read_text() == "age\n30\n31\n"


def test_a_full_memory_forgets_the_older_half(monkeypatch: pytest.MonkeyPatch) -> None:
    histogram = counted()
    bits = np.pad(BITS, ((0, 0), (histogram.space.positions - BITS.shape[1], 0)))
    batch = histogram.space.batch_of_bits(bits)
    wanted, _ = ask(histogram, None)
    with Evaluator(histogram) as evaluator:
        one = evaluator.score(batch.take([0]))
        assert one.row(0) == wanted.row(0)
        room = 3_500  # three of these small measurements, not four
        monkeypatch.setattr("sqlanon.evaluate.cache.MOST_BYTES", room)
        assert equal(evaluator.score(batch), wanted)
        assert evaluator.effort.distinct == 4
        assert equal(evaluator.score(batch), wanted), "the forgotten ones are measured again"
        assert 4 < evaluator.effort.distinct < 8


def test_memory_is_counted_as_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own account of it, which knows the arrays of numpy, is the measure."""
    rng = np.random.default_rng(1)
    table = pa.table({name: rng.integers(0, 20, 3_000) for name in "abcd"})
    histogram = count(open_source(data=table), [Quasi(name) for name in "abcd"])
    schemes = rng.random((2_000, histogram.space.positions)) < 0.2
    batches = [histogram.space.batch_of_bits(part) for part in np.split(schemes, 10)]
    with Evaluator(histogram, workers=1) as evaluator:
        evaluator.score(batches[0])
        tracemalloc.start()
        for batch in batches[1:]:
            evaluator.score(batch)
        taken, _ = tracemalloc.get_traced_memory()
        counted_bytes = evaluator._cache._bytes
        monkeypatch.setattr("sqlanon.evaluate.cache.MOST_BYTES", counted_bytes // 4)
        evaluator.score(histogram.space.batch_of_bits(schemes[:50] ^ schemes[50:100]))
        left, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert taken < counted_bytes
    assert left < taken / 2, "what is forgotten is let go"


def test_a_damaged_workspace_may_be_deleted(workspace: Path) -> None:
    with duckdb.connect(workspace) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS i FROM range(100000)")
    content = bytearray(workspace.read_bytes())
    content[4096:12288] = bytes(8192)  # the headers that name the blocks in use
    workspace.write_bytes(content)
    with pytest.raises(EngineError) as refused:
        refuse_other_database(workspace)
    assert str(refused.value) == (
        f"Workspace {workspace} is damaged. It only keeps measurements: delete it, and they are "
        "made anew."
    )


def test_a_query_holds_no_search_up_and_closing_waits_for_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, basis = Workspace(workspace), Basis("histogram", "", "demands")
    answer = kept._answer
    with ThreadPoolExecutor() as others:

        def meanwhile(cursor: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
            assert others.submit(kept.count, basis).result(timeout=30) == 0
            closing.append(others.submit(kept.close))
            assert not wait(closing, timeout=0.1).done
            return answer(cursor, sql)

        closing: list = []
        monkeypatch.setattr(kept, "_answer", meanwhile)
        assert kept.query("SELECT count(*) AS n FROM run")["n"].to_pylist() == [0]
        closing[0].result(timeout=30)


def test_recalled_measurements_are_written_from_time_to_time() -> None:
    with Workspace() as kept:
        for number in range(FLUSH_EVERY - 1):
            kept.recall(2, 1, number)
        assert len(kept._recalled) == FLUSH_EVERY - 1
        kept.recall(2, 1, FLUSH_EVERY)
        assert not kept._recalled
        assert kept.query("SELECT count(*) AS n FROM recalled")["n"].to_pylist() == [FLUSH_EVERY]
