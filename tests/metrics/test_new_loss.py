"""A loss that this file adds: searched for, published and checked like those of the package."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from small_table import changed, write_folder

import sqlanon
from sqlanon.errors import PolicyError
from sqlanon.metrics import METRICS, AtomCost, Floats, Ids, Ints, Metric, Remaining, register

PEOPLE = [(21, "F"), (23, "F"), (27, "M"), (34, "M"), (38, "M"), (39, "F")]
"""The six of people.csv; ages are of the atoms 20, 25, 30 and 35."""


class SquaredAtoms(AtomCost):
    """The square of the further atoms in the group."""

    def by_group(self, ids: Ids) -> Ints:
        return np.asarray(super().by_group(ids) ** 2)


class Squared(Metric):
    """Σ_rows Σ_j ((|g|−1)/(|Σ_j|−1))² / (N · columns): two half hidden cells hide less than one."""

    key, kind, title = "squared", "loss", "squared"
    meaning = "mean square of the share of the atoms that a cell may be"
    citation = "this test"
    cost = SquaredAtoms

    @cached_property
    def wholes(self) -> list[int]:
        return [(column.size - 1) ** 2 for column in self.histogram.space.columns]

    def of(self, left: Remaining) -> Floats:
        return self.share_of_cost(left)


@pytest.fixture(autouse=True)
def squared() -> Iterator[None]:
    register(Squared)
    yield
    del METRICS["squared"]


def by_hand(cuts: tuple[int, ...], sexes: int) -> tuple[float, int]:
    """The loss of a scheme with so many groups of sexes, and its k."""
    edges = (20, *cuts, 41)
    starts = [max(edge for edge in edges if edge <= age) for age, _ in PEOPLE]
    atoms = [sum(s <= a < edges[edges.index(s) + 1] for a in (20, 25, 30, 35)) for s in starts]
    lost = sum(((n - 1) / 3) ** 2 for n in atoms) + len(PEOPLE) * (sexes == 1)
    classes = [(s, sex if sexes == 2 else "") for s, (_, sex) in zip(starts, PEOPLE, strict=True)]
    return lost / (2 * len(PEOPLE)), min(classes.count(each) for each in classes)


EVERY = [
    by_hand(cuts, sexes)
    for number in range(4)
    for cuts in itertools.combinations((25, 30, 35), number)
    for sexes in (1, 2)
]
LEAST = min(loss for loss, k in EVERY if k >= 2)


@pytest.mark.parametrize("method", ["genitor", "exhaustive", "optimal"])
def test_it_is_minimized(tmp_path: Path, method: str) -> None:
    search = {"method": method, "loss": "squared"}
    with sqlanon.load(write_folder(tmp_path, changed(search=search))) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        assert "squared" in result.objectives
        found = result.solution.scores["squared"]
        assert found == anonymizer.measure(result.solution).scores["squared"]
    # A lattice search has levels only: an age is one of four, or hidden.
    levels = [by_hand(cuts, sexes) for cuts in ((), (25, 30, 35)) for sexes in (1, 2)]
    of_levels = min(loss for loss, k in levels if k >= 2)
    assert found == pytest.approx(LEAST if method == "genitor" else of_levels)


def test_a_preference_is_in_it(tmp_path: Path) -> None:
    wish = {"loss": "squared", "loss_at": 0.1, "necd": 1}
    with sqlanon.load(write_folder(tmp_path, changed(preference=wish))) as anonymizer:
        result = anonymizer.search()
    assert result.solution is not None
    assert result.solution.scores["squared"] == pytest.approx(LEAST)


def test_search_publish_check(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy = changed(
        search={"method": "genitor", "loss": "squared"}, publish={"file": "released.csv"}
    )
    write_folder(tmp_path, policy)
    assert run("search", "policy.yml").status == 0
    result = json.loads(Path("result.json").read_text())
    assert result["solutions"][result["chosen"]]["squared"] == pytest.approx(LEAST)
    assert "squared" in run("measure", "policy.yml", "--scheme", "result.json").out
    done = run("publish", "policy.yml", "--scheme", "result.json", "-y")
    assert done.status == 0, done.err
    done = run("check", "released.csv", "--qi", "age,sex", "--k", "2")
    assert done.status == 0, done.out
    assert (
        run("check", "--certificate", "released.csv.certificate.json", "released.csv").status == 0
    )


def test_it_is_known_while_it_is_registered(tmp_path: Path) -> None:
    policy = write_folder(tmp_path, changed(search={"method": "poka", "loss": "squared"}))
    sqlanon.load(policy).close()
    del METRICS["squared"]
    try:
        with pytest.raises(PolicyError, match=r"search\.loss: found 'squared'"):
            sqlanon.load(policy)
    finally:
        register(Squared)
