"""`sqlanon search`: its help, and settings that are looked for among its options."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from command_line import Run, message
from search_table import write_search_folder

from sqlanon.policy.search_keys import SearchSection
from sqlanon.search import METHODS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--evaluations", "5"],
            "--evaluations. Give search.evaluations in the policy, a setting of auto, genitor, "
            "nsga2 and reference-direction.",
        ),
        (["--depth=3"], "--depth. Give search.depth in the policy, a setting of poka."),
        (
            ["--past-plateaus"],
            "--past-plateaus. Give search.past_plateaus in the policy, a setting of poka.",
        ),
        (["--patience", "3"], "--patience. Give search.patience in the policy."),
    ],
)
def test_a_setting_is_no_option(run: Run, arguments: list[str], said: str) -> None:
    told = message(2, run("search", "policy.yml", *arguments))
    assert told.splitlines()[-1] == f"Error: No such option: {said}"


def test_every_key_of_the_section_is_found(run: Run) -> None:
    settings = {key for method in METHODS.values() for key in method.keys}
    for key in (SearchSection.model_fields.keys() | settings) - {"method", "seed", "seconds"}:
        told = message(2, run("search", "policy.yml", f"--{key.replace('_', '-')}", "1"))
        assert f"Give search.{key} in the policy" in told


def test_other_options_that_there_are_not(run: Run) -> None:
    told = message(2, run("search", "policy.yml", "--fast"))
    assert "No such option" in told
    assert "policy," not in told


def test_help(run: Run) -> None:
    text = run("search", "--help").out
    assert "\n  Example: sqlanon search policy.yml --method nsga2 --seed 7 -o result.json\n" in text
    assert text.endswith(
        "  Another: sqlanon search policy.yml --k 5,10,20\n"
        "           sqlanon sql policy.yml --scheme result.json#2\n"
    )
    assert "are keys of the policy's `search` section" in " ".join(text.split())


def test_thorough_replaces_the_effort_of_the_policy(run: Run, tmp_path: Path) -> None:
    """Only the thorough effort goes on after a first round, until one found nothing better."""
    write_search_folder(tmp_path, {"exact": 0, "rounds": 1})
    assert "ended after 1 round," in " ".join(run("search", "policy.yml").out.split())
    thorough = run("search", "policy.yml", "--thorough")
    assert thorough.status == 0
    assert re.search(r"of \d+ rounds the last \d+ found nothing better", thorough.out)


def test_thorough_is_for_auto(run: Run, tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "front"})
    said = message(2, run("search", "policy.yml", "--thorough"))
    assert "--thorough goes with --method auto, not with front" in said


def test_seconds_replace_those_of_the_policy(run: Run, tmp_path: Path) -> None:
    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 200, "seconds": 3_600})
    done = run("search", "policy.yml", "--seconds", "1e-9")
    assert done.status == 0
    assert "The search ended when its seconds had passed" in done.err
    write_search_folder(tmp_path, {"method": "nsga2", "evaluations": 200, "seconds": 1e-9})
    assert "best so far" not in run("search", "policy.yml", "--seconds", "3600").err


def test_seconds_are_for_each_step_of_a_walk(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_search_folder(tmp_path, {"method": "reference-direction", "points": 1})
    monkeypatch.setattr("sys.stdin", io.StringIO("take 0\n"))
    done = run("search", "policy.yml", "--seconds", "1e-9", "-q")
    assert "The step was ended early" in done.err


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "soon"])
def test_seconds_are_a_number_above_0(run: Run, wrong: str) -> None:
    said = message(2, run("search", "policy.yml", "--seconds", wrong))
    assert f"{wrong} is not a number above 0" in said
