"""`sqlanon search`: what it prints where, what it writes, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import Run, message, process
from search_table import SETTINGS, without_time, write_search_folder
from small_table import changed, without_further, write_folder

import sqlanon
from sqlanon.cli.output import console, front_grid

SEARCH = ("search", "policy.yml")


def read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_search_folder(tmp_path, {"method": "front"})
    return tmp_path


def test_search(run: Run, folder: Path) -> None:
    done = run(*SEARCH)
    assert (done.status, done.err) == (0, "")
    result = read(folder / "result.json")
    lines = [line.split() for line in done.out.splitlines() if line.strip()]
    assert lines[0] == ["#", "k", "classes", "left", "out", "NWP", "NECD", "ach", "GLM"]
    number = result["chosen"]
    chosen = result["solutions"][number]
    marked = next(line for line in lines if line[0] == "→")
    assert marked[1:4] == [str(number), str(chosen["k"]), str(chosen["classes"])]
    assert {line[0] for line in lines} >= {"age", "job", "zip", "sex"}  # its groups
    assert all(note in done.out for note in result["notes"])
    assert "written to result.json" in done.out


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"exact": 0, "evaluations": 200}, "its evaluations were used up"),
        ({"method": "nsga2", "patience": 1}, "its patience ended the search"),
        ({"method": "nsga2", "evaluations": 200}, None),
        ({"method": "front"}, None),
    ],
)
def test_what_ended_a_search_is_told(
    run: Run, tmp_path: Path, section: dict[str, Any], said: str | None
) -> None:
    """NSGA-II always uses up its evaluations, and a front is done."""
    write_search_folder(tmp_path, section)
    out = run(*SEARCH).out
    assert ("more may find a better solution" in out) == (said is not None)
    assert said is None or said in out


def test_the_table_of_a_long_front_is_a_selection(folder: Path) -> None:
    with sqlanon.load(folder / "policy.yml") as anonymizer:
        result = anonymizer.search()
    last = len(result.solutions) - 1
    assert result.chosen is not None
    grid = front_grid(result, console(), 3)
    marks, numbers, *_ = ([*column] for column in zip(*grid.rows, strict=True))
    assert numbers == [str(n) for n in sorted({0, round(last / 2), last, result.chosen})]
    assert marks[numbers.index(str(result.chosen))] == "→"
    assert grid.notes == [f"{len(numbers)} of {last + 1} solutions"]
    assert len(front_grid(result, console()).rows) == last + 1


@pytest.mark.parametrize("method", SETTINGS)
def test_measuring_a_result_gives_its_scores(run: Run, tmp_path: Path, method: str) -> None:
    write_search_folder(tmp_path, {"method": method, **SETTINGS[method]})
    assert run(*SEARCH, "-o", "found.json", "--quiet").status == 0
    result = read(tmp_path / "found.json")
    for reference, number in (("found.json", result["chosen"]), ("found.json#0", 0)):
        done = run("measure", "policy.yml", "--scheme", reference, "--json")
        solution = result["solutions"][number]
        assert without_further(json.loads(done.out)) == solution
        assert done.status == (0 if solution["feasible"] else 3)


def test_output_and_seed_and_method(run: Run, folder: Path) -> None:
    write_search_folder(folder, {"method": "auto"})
    done = run(*SEARCH, "--method", "nsga2", "--seed", "7", "--output", "other.json", "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")
    result = read(folder / "other.json")
    assert (result["method"], result["seed"]) == ("nsga2", 7)
    assert not (folder / "result.json").exists()


def test_json_is_what_is_written(run: Run, folder: Path) -> None:
    done = run(*SEARCH, "--json")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == read(folder / "result.json")


def test_a_result_is_replaced_and_the_same_again(run: Run, folder: Path) -> None:
    results = []
    for _ in range(2):
        assert run(*SEARCH, "--quiet").status == 0
        results.append(without_time(read(folder / "result.json")))
    assert results[0] == results[1]


@pytest.mark.parametrize("method", SETTINGS)
@pytest.mark.parametrize("options", [[], ["--quiet"], ["--json"]])
def test_nothing_feasible(run: Run, tmp_path: Path, method: str, options: list[str]) -> None:
    write_search_folder(tmp_path, {"method": method, **SETTINGS[method]}, privacy={"k": 151})
    done = run(*SEARCH, *options)
    assert done.status == 3
    assert done.err.startswith("No solution reaches the required privacy. The closest has k = 150")
    assert "the policy requires k = 151." in done.err
    assert read(tmp_path / "result.json")["chosen"] is None
    assert "→" not in done.out


def test_a_search_without_an_answer_leaves_a_result_with_one(run: Run, folder: Path) -> None:
    assert run(*SEARCH, "--quiet").status == 0
    former = (folder / "result.json").read_bytes()
    write_search_folder(folder, {"method": "front"}, privacy={"k": 151})
    for options in ([], ["--quiet"], ["--json"]):
        done = run(*SEARCH, *options)
        assert done.status == 3
        assert "result.json is left as it was" in done.err
        assert "--output" in done.err
        assert "written to result.json" not in done.out
        assert (folder / "result.json").read_bytes() == former
    done = run(*SEARCH, "-o", "closest.json")
    assert done.status == 3
    assert "left as it was" not in done.err
    assert read(folder / "closest.json")["chosen"] is None
    # One without an answer is replaced by the next, and by one with an answer.
    write_search_folder(folder, {"method": "front"}, privacy={"k": 160})
    assert "left as it was" not in run(*SEARCH, "-o", "closest.json").err
    assert read(folder / "closest.json")["required"]["k"] == 160
    write_search_folder(folder, {"method": "front"})
    assert run(*SEARCH, "-o", "closest.json").status == 0
    assert read(folder / "closest.json")["chosen"] is not None


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--method", "fast"), 2, "'fast' is not one of 'auto', "),
        (("--seed", "-1"), 2, "-1 is not a whole number of at least 0"),
        (("--seed", "one"), 2, "one is not a whole number of at least 0"),
        (("-o", "no/where.json"), 1, "error: no/where.json: there is no folder no to write it to"),
    ],
)
def test_what_is_refused(
    run: Run, folder: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    assert said in message(status, run(*SEARCH, *arguments))


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"method": "poka", "rounds": 2}, "rounds: is not a setting of poka; it has: depth, past"),
        ({"method": "auto", "loss": "glm"}, "loss: auto minimizes ach, which weighs the loss"),
    ],
)
def test_settings_that_do_not_fit(
    run: Run, tmp_path: Path, section: dict[str, Any], said: str
) -> None:
    write_search_folder(tmp_path, section)
    where = "error: policy.yml: a mistake in the policy\n  search."
    assert message(1, run(*SEARCH)).startswith(where + said)
    assert not (tmp_path / "result.json").exists()


def test_a_file_name_is_not_markup(run: Run, folder: Path) -> None:
    done = run(*SEARCH, "-o", "[red]x.json")
    assert "written to [red]x.json" in done.out


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo terminal")
def test_the_progress_bar_is_on_standard_error_alone(tmp_path: Path) -> None:
    import pty

    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 3_000})
    plain = process(tmp_path, *SEARCH)
    assert (plain.status, plain.err) == (0, "")  # no bar where nobody looks
    ours, theirs = pty.openpty()
    search = subprocess.Popen(
        [sys.executable, "-m", "sqlanon", *SEARCH],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # which is how a pseudo terminal ends
        while part := os.read(ours, 10_000):
            shown += part
    os.close(ours)
    out, _ = search.communicate()
    assert search.returncode == 0
    assert b"nsga2" in shown
    assert b"scored" in shown
    assert b"\x1b" not in out
    assert b"scored" not in out


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_with_the_best_so_far(tmp_path: Path, sent: signal.Signals) -> None:
    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 1_000_000_000})
    log = tmp_path / "log.txt"
    with log.open("w") as errors:
        search = subprocess.Popen(
            [sys.executable, "-m", "sqlanon", "-v", *SEARCH],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    try:
        # The count is the first statement of the search itself.
        deadline = time.monotonic() + 60
        while "GROUP BY" not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        assert search.poll() is None
        search.send_signal(sent)
        out, _ = search.communicate(timeout=60)
    finally:
        search.kill()
    assert search.returncode == 0, log.read_text()[-2_000:]
    result = read(tmp_path / "result.json")
    assert (result["stopped"], result["reproducible"]) == ("interrupted", False)
    assert result["solutions"][result["chosen"]]["feasible"] is True
    assert "written to result.json" in out.decode()
    assert "Traceback" not in log.read_text()


def test_many_models_have_a_table_of_their_own(run: Run, tmp_path: Path) -> None:
    """At 80 characters nothing of the first table is cut off."""
    policy = changed(
        privacy={
            "k": 2,
            "l_diversity": [{"l": 2}, {"kind": "entropy", "l": 1.2}],
            "t_closeness": {"t": 0.5},
            "alpha_k": {"alpha": 0.7},
        }
    )
    policy["columns"]["outcome"] = {"role": "sensitive"}
    write_folder(tmp_path, policy)
    lines = run("search", "policy.yml").out.splitlines()
    heads = [line.split() for line in lines if line.split()[:1] == ["#"]]
    assert heads[0][-1] == "models"
    assert heads[1] == ["#", "l", "entropy", "l", "t", "alpha"]
    assert not any("…" in line for line in lines)
    assert "alpha: alpha = 0.7 on 'outcome'" in lines


def test_a_search_that_a_clock_ended_says_so_even_when_quiet(run: Run, tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "nsga2", "seconds": 1e-9})
    for options in ((), ("-q",), ("--json",)):
        done = run("search", "policy.yml", *options)
        assert done.status == 0, done.err
        said = "The search ended when its seconds had passed: this is the best so far\n"
        assert said in done.err
    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 200})
    assert "best so far" not in run("search", "policy.yml", "-q").err


def test_the_last_line_names_what_multidimensional_recoding_would_lose(
    run: Run, tmp_path: Path
) -> None:
    """By hand: six people, two of each x = 0 and one of each x = 1.

    One partition per column keeps x or y: it loses 1/2. The tree cuts x, and y where x is 0, so
    that only the two people with x = 1 lose y: 2/6 * 1/2 = 1/6. All classes have the same size.
    """
    (tmp_path / "people.csv").write_text("x,y\n0,0\n0,0\n0,1\n0,1\n1,0\n1,1\n")
    columns = {name: {"role": "quasi", "values": [0, 1]} for name in "xy"}
    policy: dict[str, Any] = {
        "source": {"file": "people.csv"},
        "one_row_per_person": True,
        "columns": columns,
        "privacy": {"k": 2},
    }
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(policy))
    said = (
        "multidimensional recoding would lose 16.7% instead of 50.0% at k = 2, with NECD 0.0000 "
        "instead of 0.0000: search.recoding: multidimensional (docs/multidimensional.md)"
    )
    done = run("search", "policy.yml")
    assert " ".join(done.out.split()).endswith(said)
    assert "multidimensional" not in run("search", "policy.yml", "--json").out
    assert not run("search", "policy.yml", "--quiet").out
    for other in (
        {"publish": {"mode": "view", "to": "v"}},
        {"search": {"loss": "dcn"}},
        {"search": {"recoding": "multidimensional"}},
    ):
        (tmp_path / "policy.yml").write_text(yaml.safe_dump(policy | other))
        assert "would lose" not in run("search", "policy.yml").out
