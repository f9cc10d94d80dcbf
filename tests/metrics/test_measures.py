"""The further measures: calculated by hand, kept in a workspace, and free for who does not ask."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source
from sqlanon.evaluate.evaluator import Effort, Evaluator
from sqlanon.metrics import METRICS, ambiguity, biases, further, losses
from sqlanon.metrics.scores import Scores, scaled
from sqlanon.metrics.suppression import Suppression

FURTHER = tuple(further())
LISTED = {"precision", "entropy", "ambiguity"}
"""What needs more of a scheme than its class sizes."""


def counted(data: dict[str, list], *quasis: Quasi, **options: object) -> Histogram:
    return count(open_source(data=pa.table(data)), list(quasis), **options)  # type: ignore[arg-type]


def people() -> Histogram:
    """The six people of docs/scores.md."""
    data = {"age": [21, 23, 27, 34, 38, 39], "sex": ["F", "F", "M", "M", "M", "F"]}
    age = Quasi("age", range=(20, 40), granularity=5, weight=2.0)
    return counted(data, age, Quasi("sex", values=("F", "M")))


CUT_AT_35 = np.array([[0, 0, 1, 0]], dtype=bool)


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        # Classes of 4 rows ({20..34} x {F, M}) and 2 rows ({35..40} x {F, M}).
        # H(age) = 2 * 1/3 log2 3 + 2 * 1/6 log2 6; the first group has 2, 1 and 1 rows: 1.5 bits.
        (Suppression(), {
            "class_size": (6 / 2 - 1) / 5, "precision": (4 * 1 + 6 * 1) / 12,
            "entropy": (4 * 1.5 / (2 / 3 * math.log2(3) + 1 / 3 * math.log2(6)) + 6) / 12,
            "ambiguity": math.log2((4 * 6 + 2 * 2) / 6) / 3,
            "gini": 2 * 4 * 2 * 2 / (2 * 36 * 20 / 6),
            "variation": math.sqrt(0.08) / (1 + math.sqrt(0.08)), "minimum": 4 / 6,
        }),
        # The class of two is left out: 2 rows lose everything, 4 are all alike.
        (Suppression.given_k(3, 0.4, 6), {
            "class_size": (6 / 2 - 1) / 5, "precision": (4 + 4 + 2 * 2) / 12,
            "entropy": (4 * 1.5 / (2 / 3 * math.log2(3) + 1 / 3 * math.log2(6)) + 4 + 4) / 12,
            "ambiguity": math.log2((4 * 6 + 2 * 8) / 6) / 3,
            "gini": 0, "variation": 0, "minimum": 0,
        }),
    ],
    ids=["all", "suppressed"],
)  # fmt: skip
def test_six_people(rule: Suppression, wanted: dict[str, float]) -> None:
    histogram = people()
    with Evaluator(histogram, suppression=rule, further=FURTHER) as evaluator:
        row = evaluator.score(histogram.space.batch_of_bits(CUT_AT_35)).row(0)
    assert {name: row[name] for name in FURTHER} == pytest.approx(wanted, abs=1e-6)


def tree(*groups: str) -> Histogram:
    """Values a to d under the two nodes that `groups` names, under a root."""
    rows = [[value, group, "*"] for value, group in zip("abcd", groups, strict=True)]
    hierarchy = Hierarchy.from_rows(rows, "of the test")
    return counted({"v": list("aabcdd")}, Quasi("v", hierarchy=hierarchy))


# {a}{bc}{d}, {ab}{cd}, {a}{b}{c}{d}
PARTITIONS = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1]], dtype=bool)


def precision(histogram: Histogram, workspace: Path | None = None) -> tuple[list[float], Effort]:
    batch = histogram.space.batch_of_bits(PARTITIONS)
    with Evaluator(histogram, further=["precision"], workspace=workspace) as evaluator:
        scores = evaluator.score(batch)
        return scaled("precision", scores, histogram.rows).tolist(), evaluator.effort


def test_precision_goes_by_the_level_that_joins_a_group() -> None:
    # {b, c} is together on level 2 only and has 2 rows; {a, b} and {c, d} on level 1.
    assert precision(tree("x", "x", "y", "y"))[0] == pytest.approx([2 / 6, 0.5, 0])
    # Under {a} and {b, c, d}: {b, c} on level 1, {a, b} (3 rows) on level 2, {c, d} on level 1.
    assert precision(tree("x", "y", "y", "y"))[0] == pytest.approx([1 / 6, 9 / 12, 0])


def test_a_workspace_does_not_mix_hierarchies(tmp_path: Path) -> None:
    """The schemes and the domain are the same; what they cost is not."""
    workspace = tmp_path / "work.duckdb"
    first, _ = precision(tree("x", "x", "y", "y"), workspace)
    other, effort = precision(tree("x", "y", "y", "y"), workspace)
    assert effort.distinct == 3
    assert first != other
    assert precision(tree("x", "x", "y", "y"), workspace) == (first, Effort(asked=3, recalled=3))


BITS = (np.arange(16)[:, None] >> np.arange(4)) & 1 == 1


def ask(
    asked: tuple[str, ...], workspace: Path | None = None, budget: int = 1
) -> tuple[Scores, Effort]:
    histogram = people()
    with Evaluator(
        histogram, suppression=Suppression(budget=budget), further=asked, workspace=workspace
    ) as evaluator:
        return evaluator.score(histogram.space.batch_of_bits(BITS)), evaluator.effort


def equal(left: Scores, right: Scores) -> bool:
    return all(left.row(i) == right.row(i) for i in range(len(BITS)))


@pytest.mark.parametrize("name", FURTHER)
def test_what_is_asked_for_is_kept_and_nothing_else_served(tmp_path: Path, name: str) -> None:
    workspace = tmp_path / "work.duckdb"
    plain, _ = ask((), workspace)
    one, effort = ask((name,), workspace)
    assert (effort.queries > 0) == (name in LISTED)  # the others follow from class sizes
    assert one.row(0).keys() == plain.row(0).keys() | {name}
    every, effort = ask(FURTHER, workspace)
    assert effort.queries > 0
    for asked, known in (((), plain), ((name,), one), (FURTHER, every)):
        again, effort = ask(asked, workspace)
        assert effort == Effort(asked=16, recalled=16)
        assert equal(again, known)
        assert equal(again, ask(asked)[0])


@pytest.mark.parametrize("budget", [0, 1])
def test_nobody_pays_who_does_not_ask(budget: int) -> None:
    histogram = people()
    batch = histogram.space.batch_of_bits(BITS)
    rule = Suppression(budget=budget)
    with Evaluator(histogram, suppression=rule) as evaluator:
        measured = evaluator.measure(batch)
        assert evaluator.effort.queries == 1 + budget
        scores = evaluator.score(batch)
    assert measured.loss.shape == (16, 2)
    assert measured.small_loss.shape[1] == 2
    assert measured.ambiguity is None
    assert scores.further.shape == (16, len(FURTHER))
    assert np.isnan(scores.further).all()
    assert not scores.row(0).keys() & set(FURTHER)
    free = tuple(name for name in FURTHER if name not in LISTED)
    found, effort = ask(free, budget=budget)
    assert effort.queries == 1 + budget
    assert (~np.isnan(found.further)).sum() == 16 * len(free)


def test_all_classes_are_one_query_and_suppress_as_before() -> None:
    plain, _ = ask(())
    found, effort = ask(("ambiguity",))
    assert effort.queries == 1
    assert found.suppressed.tolist() == plain.suppressed.tolist()
    assert found.suppressed.any()
    assert found.k.tolist() == plain.k.tolist()


def test_names_outside_are_ignored() -> None:
    found, _ = ask(("nwp", "necd", "ce"))
    assert np.isnan(found.further).all()


def test_results_do_not_depend_on_the_batch() -> None:
    """Bits, levels and single schemes are laid out differently; sums are the same to the bit."""
    rng = np.random.default_rng(5)
    data = {name: rng.integers(0, 9, 400).tolist() for name in "abcd"}
    histogram = counted(data, *(Quasi(name) for name in data))
    space = histogram.space
    nodes = space.batch_of_levels(np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 0]]))
    bits = rng.random((40, space.positions)) < 0.6
    rule = Suppression.up_to(0.1, histogram.rows)
    with Evaluator(histogram, suppression=rule, further=FURTHER) as evaluator:
        alone = evaluator.score(nodes)
    with Evaluator(histogram, suppression=rule, further=FURTHER, workers=2) as evaluator:
        mixed = np.concatenate([nodes.ids, space.batch_of_bits(bits).ids])
        together = evaluator.score(dataclasses.replace(nodes, ids=mixed))
    assert (alone.further == together.further[:3]).all()


def test_the_most_rows_there_can_be() -> None:
    """Prices and squares of 3,037,000,499 rows stay whole numbers of 64 bits."""
    small = counted({"a": [1, 2, 3, 3, None], "b": list("xyyxy")}, Quasi("a"), Quasi("b"))
    rows = 3_037_000_499
    tally = dataclasses.replace(
        small.tally, rows=np.array([rows // 2, rows - rows // 2 - 3, 1, 1, 1])
    )
    most = dataclasses.replace(
        small, tally=dataclasses.replace(tally, people=tally.rows), rows=rows, people=rows
    )
    bits = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=bool)
    with Evaluator(most, further=FURTHER) as evaluator:
        whole, atoms = evaluator.score(small.space.batch_of_bits(bits)).further.tolist()
    assert whole == [1, 1, 1, 1, 0, 0, 0]
    assert atoms[:4] == pytest.approx([1 / 5, 0, 0, 0], abs=1e-9)
    # Two classes of about half the rows, three of one row.
    assert atoms[4:] == pytest.approx([0, 0, 1], abs=1e-4)


def test_more_tuples_than_a_number_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ambiguity, "MAX_TUPLES", 7)  # the six people have a domain of 8
    found, _ = ask(FURTHER)
    assert np.isnan(scaled("ambiguity", found, 6)).all()
    assert set(FURTHER) - found.row(0).keys() == {"ambiguity"}
    assert not np.isnan(scaled("entropy", found, 6)).any()


def test_one_row_and_columns_that_tell_nothing() -> None:
    histogram = counted({"a": [7], "b": ["x"]}, Quasi("a"), Quasi("b"))
    with Evaluator(histogram, further=FURTHER) as evaluator:
        found = evaluator.score(histogram.space.batch_of_levels(np.array([[0, 0]])))
    assert found.further.tolist() == [[0.0] * 7]


def test_nothing_is_released() -> None:
    histogram = people()
    rule = Suppression.given_k(7, 1, 6)
    with Evaluator(histogram, suppression=rule, further=FURTHER) as evaluator:
        found = evaluator.score(histogram.space.batch_of_bits(CUT_AT_35))
    # All six rows are one suppressed class, of which nothing is told.
    assert found.further.tolist() == [[1, 1, 1, 1, 0, 0, 0]]


def test_every_metric_says_what_it_is() -> None:
    assert [*losses(), *biases()] == list(METRICS)
    for key, metric in METRICS.items():
        assert metric.key == key
        assert all((metric.title, metric.meaning, metric.citation))
        assert set(metric.described()) >= {key}
