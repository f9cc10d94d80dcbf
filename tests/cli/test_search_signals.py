"""`sqlanon search` and signals: those that end it without a result, and Ctrl-C in a walk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from search_table import write_search_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")


# What a shell puts into the background ignores Ctrl-C, and so do its children unless told.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from sqlanon.cli import main
main()
"""


def stopped(
    folder: Path,
    method: str,
    sent: list[signal.Signals],
    *options: str,
    answers: bytes = b"",
    apart: float = 0.002,
    before: str = "",
    begun: str = "candidates AS (",
) -> tuple[int, str, str]:
    """Status and streams of a search that gets signals, some seconds apart, while it works.

    `begun` is in its log when the first one may be sent; `before` is run before the program.
    """
    log = folder / "log.txt"
    with log.open("w") as errors:
        search = subprocess.Popen(
            [sys.executable, "-c", before + PROGRAM, "-v", "search", "policy.yml", "-q",
             "--method", method, *options],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while begun not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
        for each in sent:
            search.send_signal(each)
            time.sleep(apart)
        out, _ = search.communicate(answers or None, timeout=60)
    finally:
        search.kill()
    return search.returncode, out.decode(), log.read_text()


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize(
    ("section", "sent", "status"),
    [
        ({"method": "nsga2", "evaluations": 10**9}, [signal.SIGINT, signal.SIGINT], 130),
        ({"method": "reference-direction", "points": 10_000}, [signal.SIGTERM], 143),
        ({"method": "reference-direction", "points": 10_000}, [signal.SIGINT] * 2, 130),
    ],
)
def test_the_program_ends_without_a_result(
    tmp_path: Path,
    section: dict[str, object],
    sent: list[signal.Signals],
    status: int,
    options: list[str],
) -> None:
    """The last of the signals ends the program: exit status 128 + its number (docs/search.md)."""
    write_search_folder(tmp_path, section)
    for _ in range(5):
        returned, out, err = stopped(tmp_path, str(section["method"]), sent, *options)
        if returned:  # else the process saw both signals as one, which ends the search alone
            break
    assert returned == status, err[-2_000:]
    assert "Traceback" not in err
    assert err.split()[-1] == "stopped"
    if options:
        assert json.loads(out) == {"error": "stopped", "status": status}
    else:
        assert out == ""


@pytest.mark.parametrize("apart", [0.002, 0.1, 0.4])
def test_two_sigterms_within_a_second_are_one(tmp_path: Path, apart: float) -> None:
    """GNU timeout sends one to the process and one to its group; the result was lost."""
    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 10**9})
    status, out, err = stopped(tmp_path, "nsga2", [signal.SIGTERM] * 2, "--json", apart=apart)
    assert status == 0, err[-2_000:]
    document = json.loads(out)
    assert document == json.loads((tmp_path / "result.json").read_text())
    assert (document["stopped"], document["reproducible"]) == ("interrupted", False)


def test_two_sigterms_at_once_end_a_walk(tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "reference-direction", "points": 10_000})
    status, _, err = stopped(tmp_path, "reference-direction", [signal.SIGTERM] * 2)
    assert status == 143, err[-2_000:]
    assert "Traceback" not in err


SLOW = """
import time
from sqlanon.evaluate import Evaluator
score = Evaluator.score
def slow(self, *arguments, **options):
    for _ in range(600):
        time.sleep(0.1)
    return score(self, *arguments, **options)
Evaluator.score = slow
"""


def test_a_sigterm_a_second_later_ends_at_once(tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 10**9})
    start = time.monotonic()
    status, out, err = stopped(
        tmp_path, "nsga2", [signal.SIGTERM] * 2, apart=1.1, before=SLOW, begun="GROUP BY"
    )
    assert time.monotonic() - start < 50  # a step would take a minute
    assert (status, out) == (143, ""), err[-2_000:]
    assert err.split()[-1] == "stopped"
    assert not (tmp_path / "result.json").exists()


def test_ctrl_c_ends_a_step_of_a_walk(tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "reference-direction", "points": 10_000})
    status, out, err = stopped(
        tmp_path, "reference-direction", [signal.SIGINT], "--json", answers=b"take 0\n"
    )
    assert status == 0, err[-2_000:]
    document = json.loads(out)
    assert (document["stopped"], document["reproducible"]) == ("interrupted", False)
    assert document["solutions"][document["chosen"]]["feasible"] is True


@pytest.mark.parametrize(("presses", "status"), [(1, 0), (2, 130)])
def test_the_first_ctrl_c_at_the_prompt_only_warns(
    tmp_path: Path, presses: int, status: int
) -> None:
    write_search_folder(tmp_path, {"method": "reference-direction", "points": 1})
    log = tmp_path / "log.txt"

    def wait_for(text: str, times: int = 1) -> None:
        deadline = time.monotonic() + 60
        while log.read_text().count(text) < times and time.monotonic() < deadline:
            time.sleep(0.02)

    with log.open("w") as errors:
        search = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "search", "policy.yml"],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
    try:
        for press in range(presses):
            wait_for("What next?", press + 1)
            time.sleep(0.2)  # until it waits for an answer
            search.send_signal(signal.SIGINT)
        wait_for("another Ctrl-C ends it at once")
        wait_for("What next?", 2)
        search.communicate(b"take 0\n", timeout=60)
    finally:
        search.kill()
    assert search.returncode == status, log.read_text()
    assert "Traceback" not in log.read_text()
    assert (tmp_path / "result.json").exists() == (status == 0)
