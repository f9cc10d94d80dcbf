"""`sqlanon search --method reference-direction`: a walk whose answers come from standard input."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from rich.console import Console
from rich.measure import Measurement
from search_table import write_search_folder
from small_table import changed, write_folder

import sqlanon
from sqlanon.cli.walk import step_grid
from sqlanon.errors import SearchError
from sqlanon.metrics.preference import Preference
from sqlanon.search.walk.reference_direction import Step


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    start = {"nwp": 1.0, "necd": 0.0}
    write_search_folder(tmp_path, {"method": "reference-direction", "points": 3, "start": start})
    return tmp_path


def walk(folder: Path, answers: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sqlanon", "search", "policy.yml", *options],
        cwd=folder,
        input=answers,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def result(folder: Path) -> dict[str, object]:
    document: dict[str, object] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return document


def test_taking_a_solution_writes_it_as_the_chosen_one(folder: Path) -> None:
    done = walk(folder, "take 0\n")
    assert done.returncode == 0, done.stderr
    document = result(folder)
    assert document["method"] == "reference-direction"
    assert document["objectives"] == ["nwp", "necd"]
    solutions = document["solutions"]
    assert isinstance(solutions, list)
    assert isinstance(document["chosen"], int)
    chosen = solutions[document["chosen"]]
    assert chosen["k"] >= 4
    # The efficient solutions trade loss against bias.
    points = [(s["nwp"], s["necd"]) for s in solutions]
    assert points == sorted(points)
    assert [necd for _, necd in points] == sorted((necd for _, necd in points), reverse=True)


def test_going_on_starts_from_the_chosen_point(folder: Path) -> None:
    done = walk(folder, "0\ntake 0\n")
    assert done.returncode == 0, done.stderr
    starts = [line for line in done.stdout.splitlines() if line.startswith("From NWP")]
    assert len(starts) == 2
    assert starts[0].startswith("From NWP 1.000, NECD 0.000")
    assert starts[1] != starts[0]


HINT = "N goes on from solution N, take N ends with it, points N asks for N places,"


def test_the_first_prompt_tells_the_answers(folder: Path) -> None:
    done = walk(folder, "0\nfly\ntake 0\n")
    first, *others = done.stderr.split("What next? ")
    assert first.startswith(HINT)
    assert [each in first for each in ("save FILE", "quit", "help")] == [True] * 3
    assert first.count("\n") == 2
    assert max(map(len, first.splitlines())) <= 80
    assert HINT not in "".join(others)


@pytest.mark.parametrize("asked", ["help", "?"])
def test_help_lists_the_answers(folder: Path, asked: str) -> None:
    done = walk(folder, f"{asked}\ntake 0\n", "-q")
    assert (done.returncode, done.stdout) == (0, "")
    _, listed, _ = done.stderr.split("What next? ")
    answers = [line.split("  ")[1] for line in listed.splitlines()]
    assert answers == ["N", "take N", "points N", "save FILE", "quit", "help, ?"]


def test_only_a_new_step_is_shown(folder: Path) -> None:
    """A message would scroll away above a table and a plot."""
    done = walk(folder, "help\nfly\nsave walk.json\n99\npoints 2\n?\n0\nfly\ntake 0\n")
    assert done.returncode == 0, done.stderr
    # The first one, the one with 2 points, and the one after choosing.
    assert done.stdout.count("From NWP") == done.stdout.count("└") == 3


def test_a_wrong_answer_is_explained_and_asked_again(folder: Path) -> None:
    wrong = {
        "fly away": "'fly away' is not an answer; help lists those that are",
        "take": "take needs a number, as in: take 2",
        "points": "points needs a number, as in: points 2",
        "save": "save needs the name of a file, as in: save walk.json",
        "points 9999999999999": "a step has 1 to 100,000 reference points, not 9999999999999",
        "99": "there is no solution 99; the last step has 1 solution, numbered from 0",
        "-1": "there is no solution -1; the last step has 1 solution, numbered from 0",
        "take 99": "there is no solution 99; this step has 1 solution, numbered from 0",
        "take x": "'x' is not a whole number",
        "points x": "'x' is not a whole number",
        "points 2.5": "'2.5' is not a whole number",
        "points 0": "a step has 1 to 100,000 reference points, not 0",
        "save missing/x.json": "missing/x.json: cannot be written (No such file or directory)",
        "save result.json": "result.json: is where the result goes; name another file",
    }
    done = walk(folder, "\n".join([*wrong, "take 0", ""]))
    assert done.returncode == 0, done.stderr
    _, *said = done.stderr.split("What next? ")
    assert said == [*(f"{each}\n" for each in wrong.values()), ""]
    assert "Errno" not in done.stderr


def test_rows_left_out_are_shown(tmp_path: Path) -> None:
    """Of three F and one M, M alone is left out, which is a quarter of the cells, all lost.

    The others are one class: no bias, so this is better than all in one group, with a loss of 1.
    """
    policy = changed(
        columns={"sex": {"role": "quasi"}},
        suppression={"limit": 0.25},
        search={"method": "reference-direction", "points": 2},
    )
    write_folder(tmp_path, policy, csv="sex\nF\nF\nF\nM\n")
    done = walk(tmp_path, "take 0\n")
    assert done.returncode == 0, done.stderr
    head, _, row, *_ = done.stdout.splitlines()[2:]
    titles = re.split(" {2,}", head.strip())
    assert titles == ["#", "k", "classes", "left out", "NWP", "NECD", "asked for + more"]
    # From (1, 0) half way to (0.5, 0.5), and that point itself.
    assert row.split() == ["0", "3", "1", "1", "0.2500", "0.0000", "(0.750,", "0.250)", "+", "1"]


def test_a_step_of_a_large_table_fits_the_screen() -> None:
    points = tuple(Preference(loss=0.5, bias=m / 100) for m in range(100))
    large = np.array([9_999_999])
    scores = SimpleNamespace(k=large, classes=large, suppressed=large)
    step = Step(points[0], points, cast(Any, [0]), cast(Any, scores), points[:1], (0,) * 100)
    screen = Console(file=io.StringIO(), width=80)
    table = step_grid(step, "class_size", "variation").table(screen)
    assert Measurement.get(screen, screen.options.update(width=200), table).maximum <= 80
    screen.print(table)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert shown.count("9,999,999") == 3
    assert "(0.500, 0.000) + 99" in shown


def test_a_saved_walk_is_resumed(folder: Path) -> None:
    saved = walk(folder, "0\nsave walk.json\nquit\n")
    assert saved.returncode == 0, saved.stderr
    assert not (folder / "result.json").exists()
    assert "nothing is written" in saved.stderr
    resumed = walk(folder, "take 0\n", "--resume", "walk.json")
    assert resumed.returncode == 0, resumed.stderr
    # The step that was shown last is shown again.
    last = [line for line in saved.stdout.splitlines() if line.startswith("From NWP")][-1]
    assert last in resumed.stdout


def test_json_goes_to_standard_output_alone(folder: Path) -> None:
    done = walk(folder, "take 0\n", "--json", "--quiet")
    assert json.loads(done.stdout)["method"] == "reference-direction"


@pytest.mark.parametrize("answers", ["quit\n", "0\n", ""])
def test_who_takes_nothing_still_gets_a_document(folder: Path, answers: str) -> None:
    """The end of standard input is like quit."""
    done = walk(folder, answers, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].endswith("No solution was taken; nothing is written.")
    document = json.loads(done.stdout)
    assert (document["chosen"], document["objectives"]) == (None, ["nwp", "necd"])
    assert all(each["feasible"] for each in document["solutions"])
    assert not (folder / "result.json").exists()


def test_quiet_shows_the_prompt_alone(folder: Path) -> None:
    done = walk(folder, "0\npoints 2\ntake 0\n", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "What next? " * 3)


def test_what_is_no_text_is_refused(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sqlanon", "search", "policy.yml", "-q"],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        input=b"\xff\xfe\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
    assert b"standard input is not text" in done.stderr


def test_nothing_feasible_ends_with_3(tmp_path: Path) -> None:
    """150 people are never 151; one class of them all comes closest. As for other searches."""
    search = {"method": "reference-direction", "points": 2}
    write_search_folder(tmp_path, search, privacy={"k": 151})
    done = walk(tmp_path, "", "--json")
    assert done.returncode == 3
    assert done.stderr.startswith(
        "No solution reaches the required privacy. The closest has k = 150 with NWP 1.0000, in a "
        "source of 150 rows; the policy requires k = 151. There are fewer rows than k = 151"
    )
    document = result(tmp_path)
    assert json.loads(done.stdout) == document
    assert (document["chosen"], document["objectives"]) == (None, ["ach", "k"])
    solutions = document["solutions"]
    assert isinstance(solutions, list)
    assert max(each["k"] for each in solutions) == 150
    assert not any(each["feasible"] for each in solutions)


def test_a_saved_walk_is_for_its_owner(folder: Path) -> None:
    """Like a result: it lists scores of the data, and schemes of one's own."""
    assert walk(folder, "save my walk.json\nquit\n", "-q").returncode == 0
    file = folder / "my walk.json"
    assert "steps" in json.loads(file.read_text(encoding="utf-8"))
    if os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_a_walk_that_waits_ends_on_sigterm(folder: Path) -> None:
    """Nobody may be there to answer, and nothing was taken: no result, and 128 + 15."""
    command = [sys.executable, "-u", "-m", "sqlanon", "search", "policy.yml", "-q"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        asked = process.stderr.read(len("What next? "))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (asked, process.returncode) == (b"What next? ", 143)
    assert err.split()[-1] == b"stopped"
    assert b"Traceback" not in err
    assert not (folder / "result.json").exists()


def test_a_walk_goes_on_with_the_very_same_models_only(tmp_path: Path) -> None:
    """Messages show six digits of a bound; two policies may differ in the seventh."""

    def saved(t: float, document: object = None) -> object:
        policy = changed(
            columns={
                "age": {"role": "quasi"},
                "sex": {"role": "quasi"},
                "outcome": {"role": "sensitive"},
            },
            privacy={"k": 2, "t_closeness": {"t": t}, "l_diversity": {"kind": "entropy", "l": 1}},
        )
        write_folder(tmp_path, policy)
        with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
            written: object = json.loads(json.dumps(anonymizer.walk(document).to_json()))
        return written

    first = saved(0.12345678)
    assert saved(0.12345678, first) == first
    with pytest.raises(SearchError, match="saved with other privacy models"):
        saved(0.12345681, first)
