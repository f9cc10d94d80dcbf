"""`sqlanon search`: its help, and settings that are looked for among its options."""

from __future__ import annotations

import pytest
from command_line import Run, message

from sqlanon.policy import SearchSection


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--evaluations", "5"],
            "--evaluations. Give search.evaluations in the policy, a setting of auto, nsga2, "
            "reference-direction and genitor.",
        ),
        (["--depth=3"], "--depth. Give search.depth in the policy, a setting of poka."),
        (
            ["--past-plateaus"],
            "--past-plateaus. Give search.past_plateaus in the policy, a setting of poka.",
        ),
        (["--seconds", "3"], "--seconds. Give search.seconds in the policy."),
    ],
)
def test_a_setting_is_no_option(run: Run, arguments: list[str], said: str) -> None:
    told = message(2, run("search", "policy.yml", *arguments))
    assert told.splitlines()[-1] == f"Error: No such option: {said}"


def test_every_key_of_the_section_is_found(run: Run) -> None:
    for key in SearchSection.model_fields.keys() - {"method", "seed"}:
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
