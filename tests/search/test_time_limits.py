"""A limit in seconds ends a search within a batch too, with the best of what was scored by then."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from search_table import POLICY, SETTINGS, write_search_folder

import sqlanon
from sqlanon.evaluate import evaluator
from sqlanon.evaluate.workbench import Database, Workbench
from sqlanon.search.outcome import NOTHING_SCORED, Progress, Watch

SECONDS = 0.5
ALLOWED = 2 + 1.1 * SECONDS
"""What the documentation promises."""
ENDLESS = "SELECT count(*) FROM range(100000000) AS a, range(100000) AS b"


class Endless:
    """Queries that do not end by themselves, but for one scheme and for the first few."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, quick: int = 0) -> None:
        self._plain = Workbench.query
        self._quick = quick
        monkeypatch.setattr(Workbench, "query", lambda *given: self.query(*given))  # noqa: PLW0108
        monkeypatch.setattr(evaluator, "AT_ONCE", 0)

    def query(
        self, workbench: Workbench, database: Database, layout: Any, group: Any, *rest: Any
    ) -> Any:
        if len(group.members) > 1:
            self._quick -= 1
            if self._quick < 0:
                database.connection.execute(ENDLESS).fetchall()
        return self._plain(workbench, database, layout, group, *rest)


def limited(folder: Path, search: dict[str, Any], **keys: Any) -> tuple[Any, float, list[float]]:
    """The result of a search of half a second, how long it took and when it reported."""
    signs: list[float] = []
    watch = Watch(lambda _: signs.append(time.monotonic()), seconds=SECONDS)
    with sqlanon.load(write_search_folder(folder, search, **keys)) as anonymizer:
        anonymizer.histogram  # noqa: B018 - counting is not searching
        start = time.monotonic()
        found = anonymizer.search(watch=watch)
        return found, time.monotonic() - start, [sign - start for sign in signs]


@pytest.mark.parametrize("method", SETTINGS)
def test_a_search_that_scored_nothing_answers_with_the_coarsest_scheme(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`auto` and POkA begin with the coarsest scheme by themselves."""
    Endless(monkeypatch)
    found, seconds, _ = limited(tmp_path, {"method": method, **SETTINGS[method]})
    assert seconds < ALLOWED
    assert found.stopped == "time"
    assert not found.reproducible
    (solution,) = found.solutions
    assert found.chosen == 0
    assert all(not partition.cuts for partition in solution.scheme.partitions)
    assert solution.scores["k"] == 150, "all people of the table are one class"
    assert (NOTHING_SCORED in found.notes) == (method not in ("auto", "poka"))


def test_with_models_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Endless(monkeypatch)
    columns = {"outcome": {"role": "sensitive"}}
    privacy = {"k": 4, "l_diversity": {"l": 2}}
    found, seconds, _ = limited(
        tmp_path, {"method": "nsga2"}, columns=POLICY["columns"] | columns, privacy=privacy
    )
    assert seconds < ALLOWED
    assert found.chosen == 0
    assert NOTHING_SCORED in found.notes


@pytest.mark.parametrize("method", ["auto", "nsga2", "genitor", "front", "exhaustive"])
def test_what_was_scored_of_a_batch_counts(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlanon.evaluate.query_plan.MOST_WORK", 0)  # 16 schemes in a query
    Endless(monkeypatch, quick=1)
    settings = {"method": method, **SETTINGS[method]}
    found, seconds, _ = limited(tmp_path, settings)
    assert seconds < ALLOWED
    assert found.stopped == "time"
    assert NOTHING_SCORED not in found.notes
    assert 1 < found.evaluations["distinct"] <= 32
    assert found.solutions


def test_a_step_reports_while_it_is_going_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlanon.search.outcome.SILENCE", 0.1)
    Endless(monkeypatch)
    _, _, signs = limited(tmp_path, {"method": "nsga2", **SETTINGS["nsga2"]})
    assert len(signs) >= 2, "the first population is never scored to its end"
    assert signs[0] < ALLOWED


def test_a_walk_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Endless(monkeypatch)
    search = {"method": "reference-direction", "seconds": SECONDS}
    with sqlanon.load(write_search_folder(tmp_path, search)) as anonymizer:
        walk = anonymizer.walk()
        start = time.monotonic()
        step = walk.step()
        assert time.monotonic() - start < ALLOWED
        assert step.stopped == "time"
        assert len(step.solutions) == 1
        assert step.scores.k.tolist() == [150]


def test_the_clock_starts_with_the_search() -> None:
    watch = Watch(seconds=0.2)
    time.sleep(0.3)
    assert not watch.step(Progress())
    time.sleep(0.3)
    assert watch.step(Progress())
    assert watch.stopped == "time"


def test_an_interrupt_ends_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the interrupt ends this search."""
    Endless(monkeypatch)
    watch = Watch(lambda _: watch.interrupt())
    policy = write_search_folder(tmp_path, {"method": "nsga2", **SETTINGS["nsga2"]})
    with sqlanon.load(policy) as anonymizer:
        found = anonymizer.search(watch=watch)
    assert found.stopped == "interrupted"
    assert NOTHING_SCORED in found.notes
