"""A walk along reference directions from Python: its objects, and mistakes in its arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_table import SCHEME, changed, write_folder

import sqlanon
from sqlanon.errors import ArgumentError, NoSolutionError, SearchError
from sqlanon.search.walk.reference_direction import Step, Visit, Walk

PYTHON = Path(__file__).resolve().parents[2] / "docs" / "python.md"
SEARCH = {"method": "reference-direction", "points": 2}


@pytest.fixture
def anonymizer(tmp_path: Path) -> Iterator[sqlanon.Anonymizer]:
    write_folder(tmp_path, changed(search=SEARCH, publish={"file": str(tmp_path / "out.csv")}))
    with sqlanon.load(tmp_path / "policy.yml") as opened:
        yield opened


def test_a_step_prints_as_a_table(anonymizer: sqlanon.Anonymizer) -> None:
    """Cut at 25 and 35, the six are three pairs: no bias, and nothing finer has classes of two.

    Only ages 25 to 34 lose something, 1 of 3 steps for 2 of 6 people, and all sexes are lost:
    with the weights 2 and 1 that is 2/3 · 1/9 + 1/3 = 11/27.
    """
    walk = anonymizer.walk()
    step = walk.step()
    account = "from nwp 1, necd 0: 1 solution for 2 reference points, finished"
    head, titles, row = str(step).splitlines()
    assert head == account
    assert titles.split() == ["#", "k", "classes", "suppressed", "nwp", "necd", "references"]
    assert row.split() == ["0", "2", "3", "0", f"{11 / 27:.4f}", "0.0000", "2"]
    assert len(titles) == len(row) <= 80
    assert repr(step) == f"<Step {account}>"
    assert step._repr_html_() == f"<pre>{step}</pre>"
    assert repr(walk) == (
        "<Walk from nwp 1, necd 0 towards nwp 0.5, necd 0.5: 1 step, 1 efficient solution>"
    )


KEY = "give the key of a solution, as step.solutions.keys[0]"
ROW = "give the number of a solution of the last step, from 0"


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("n", "2", "'2'; give a whole number of at least 1"),
        ("n", 0, "0; give a whole number of at least 1"),
        ("n", True, "True; give a whole number of at least 1"),
        ("watch", 4, "4; give a sqlanon.Watch"),
        ("watch", 0, "0; give a sqlanon.Watch"),
        ("row", "0", f"'0'; {ROW}"),
        ("row", 0.5, f"0.5; {ROW}"),
        ("row", True, f"True; {ROW}"),
        ("chosen", 0, f"0; {KEY}"),
        ("chosen", "zz", f"'zz'; {KEY}"),
        ("walk", 5, "5; give the walk that walk() returned"),
        ("seconds", "1", "'1'; give a number of at least 0"),
        ("seed", "1", "'1'; give a whole number of at least 0"),
    ],
)
def test_wrong_arguments_are_named(
    anonymizer: sqlanon.Anonymizer, name: str, given: Any, said: str
) -> None:
    walk = anonymizer.walk()
    walk.step()
    calls: dict[str, Any] = {
        "n": walk.step,
        "watch": walk.step,
        "row": walk.choose,
        "chosen": lambda chosen: anonymizer.walked(walk, chosen),
        "walk": anonymizer.walked,
        "seconds": lambda seconds: anonymizer.walked(walk, seconds=seconds),
        "seed": lambda seed: anonymizer.walk(walk.to_json(), seed=seed),
    }
    with pytest.raises(ArgumentError) as refused:
        calls[name](**{name: given})
    assert str(refused.value) == f"`{name}` is {said}"
    assert len(walk.history) == 1


def test_a_step_is_no_walk(anonymizer: sqlanon.Anonymizer) -> None:
    step: Any = anonymizer.walk().step()
    with pytest.raises(ArgumentError, match=r"`walk` is <Step .*>; give the walk"):
        anonymizer.walked(step)


def test_the_number_of_points_is_checked_where_it_is_set(anonymizer: sqlanon.Anonymizer) -> None:
    walk = anonymizer.walk()
    with pytest.raises(ArgumentError, match="`n` is 0; give a whole number of at least 1"):
        walk.n = 0
    assert walk.n == 2


def test_numbers_of_numpy_are_numbers(anonymizer: sqlanon.Anonymizer) -> None:
    walk = anonymizer.walk()
    walk.step(np.int64(1))  # type: ignore[arg-type]
    walk.choose(np.int64(0))  # type: ignore[arg-type]
    assert json.loads(json.dumps(walk.to_json()))["steps"][0]["chosen"] == 0


def test_a_key_that_no_step_found(anonymizer: sqlanon.Anonymizer) -> None:
    walk = anonymizer.walk()
    walk.step()
    with pytest.raises(SearchError, match="no step of the walk found the chosen solution"):
        anonymizer.walked(walk, chosen=b"zz")


def test_what_is_missing_when_none_was_taken(anonymizer: sqlanon.Anonymizer) -> None:
    walk = anonymizer.walk()
    step = walk.step()
    quit_walk = anonymizer.walked(walk)
    assert quit_walk.solution is None
    said = "1 solution reaches the required privacy, and none was chosen."
    assert quit_walk.shortfall() == said
    with pytest.raises(NoSolutionError) as refused:
        anonymizer.publish(quit_walk)
    assert str(refused.value) == f"{said} To use one, give it from `solutions`."
    two = replace(quit_walk, solutions=quit_walk.solutions * 2)
    assert two.shortfall().startswith("2 solutions reach the required privacy")
    taken = anonymizer.walked(walk, chosen=step.solutions.keys[0])
    assert taken.shortfall() == (
        "Nothing is missing: the chosen solution holds what the policy requires."
    )


def test_what_is_missing_to_a_chosen_solution_that_falls_short(
    anonymizer: sqlanon.Anonymizer,
) -> None:
    """As where the rows that a solution marks, which a step does not count, are too few."""
    walk = anonymizer.walk()
    step = walk.step()
    taken = anonymizer.walked(walk, chosen=step.solutions.keys[0])
    assert taken.solution is not None
    marked = replace(taken.solution, feasible=False, marked_hold=False)
    assert replace(taken, solutions=(marked,)).shortfall() == (
        "The rows that it marks are too few or too alike to be a class of the release."
    )


def test_schemes_of_ones_own_take_part(anonymizer: sqlanon.Anonymizer) -> None:
    """The scheme of docs/scores.md, whose 17/27 and 2/5 the three pairs beat."""
    walk = anonymizer.walk()
    scheme = anonymizer.scheme(SCHEME)
    scores = walk.remember(anonymizer.space.batch([scheme]))
    assert (scores.nwp[0], scores.necd[0]) == pytest.approx((17 / 27, 2 / 5))
    assert len(walk.archive) == 1
    assert walk.step().points[0].bias == 0


@pytest.mark.parametrize(
    ("kind", "heading"), [(Walk, "`Walk`"), (Step, "`Step`"), (Visit, "`Step`")]
)
def test_every_member_is_described(kind: type, heading: str) -> None:
    parts = re.split(r"^## ", PYTHON.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = (part for part in parts if part.startswith(f"{heading}"))
    members = {name for name in [*dir(kind), *kind.__annotations__] if not name.startswith("_")}
    assert not [name for name in members if not re.search(rf"`{name}\b", section)]
