"""GENITOR: its steady-state rules, a literal twin, and known optima of small tables."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from genitor_cases import WORKCLASS, column, scripted, text, valid_strings

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Bits, Family
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.space import Space
from sqlanon.engines.registry import open_source
from sqlanon.errors import SearchError
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.suppression import Suppression
from sqlanon.search.genitor import DUPLICATES, GenitorSettings, Run, genitor
from sqlanon.search.method import METHODS
from sqlanon.search.outcome import Outcome, Progress, Watch
from sqlanon.search.problem import Problem, exact_loss

SPACE = Space(
    [
        column(WORKCLASS, null=True, name="work"),
        column(7, Family.CONTIGUOUS, name="age"),
        column(WORKCLASS, Family.FULL_DOMAIN, name="level"),
        column(4, Family.CONTIGUOUS, null=True, name="sex"),
    ]
)


def judge(string: Bits) -> tuple[int, int]:
    """A rugged landscape of about 100 losses with many ties; a third of it below k = 2."""
    number = int(text(string), 2)
    mixed = number * 2654435761 % 2**32
    return 1 + mixed % 3, int(string.sum()) * 3 + mixed // 7 % 40


# A literal twin: lists, loops and sorting, the same draws in the same order


class Twin:
    def __init__(self, problem: Problem, settings: GenitorSettings, seed: int) -> None:
        self.problem, self.settings = problem, settings
        self.rng = np.random.default_rng(seed)
        self.run = Run(problem, settings, np.random.default_rng(0), Watch())
        self.strings: list[tuple[bool, ...]] = []
        while len(self.strings) < settings.population:
            for row in self.random(settings.population - len(self.strings)):
                if row not in self.strings or settings.allow_duplicates:
                    self.strings.append(row)
        self.sort()

    def random(self, number: int) -> list[tuple[bool, ...]]:
        return [tuple(row.tolist()) for row in self.run.splits.random(number, self.rng)]

    def fitness(self, string: tuple[bool, ...]) -> tuple[int, int]:
        k, loss = judge(np.array(string))
        return max(0, self.problem.k - k), loss

    def sort(self) -> None:
        self.strings.sort(key=self.fitness)  # stable: the older first

    def rank(self) -> int:
        b = self.settings.bias
        u = self.rng.random()
        return int(len(self.strings) * (b - math.sqrt(b * b - 4 * (b - 1) * u)) / 2 / (b - 1))

    def points(self, one: tuple[bool, ...], other: tuple[bool, ...]) -> list[int]:
        """Shared cuts and borders, one for each child that is none of the parents."""
        space, found = self.problem.space, {}
        for p in range(1, len(one)):
            j = max(j for j in range(len(space.columns)) if space.offsets[j] <= p - 1)
            inside = space.columns[j].family is not Family.FULL_DOMAIN
            if p in space.offsets or (inside and one[p - 1] and other[p - 1]):
                found.setdefault(one[:p] + other[p:], p)
        return [p for made, p in found.items() if made not in (one, other)]

    def step(self) -> None:
        """One individual more is scored: a duplicate is not, where none are allowed."""
        made = self.offspring()
        if not self.settings.allow_duplicates:
            for _ in range(DUPLICATES - 1):
                made = made if made not in self.strings else self.offspring()
            while made in self.strings:
                made = self.random(1)[0]
        if self.fitness(made) < self.fitness(self.strings[-1]):
            self.strings[-1] = made
            # The newcomer goes behind its equals: it stands last before the stable sort.
            self.sort()

    def offspring(self) -> tuple[bool, ...]:
        mutation = self.rng.random() < self.settings.mutation
        one = other = self.rank()
        while other == one:
            other = self.rank()
        parent = self.strings[one]
        points = self.points(parent, self.strings[other])
        if points and not mutation:
            p = points[self.rng.integers(len(points))]
            made = parent[:p] + self.strings[other][p:]
        else:
            made = self.mutant(parent)
        return made

    def mutant(self, parent: tuple[bool, ...]) -> tuple[bool, ...]:
        """A flipped bit of a contiguous column, or the column crossed with a random one."""
        space, at = self.problem.space, self.rng.integers(len(parent))
        j = max(j for j in range(len(space.columns)) if space.offsets[j] <= at)
        start, stop = int(space.offsets[j]), int(space.offsets[j]) + space.columns[j].positions
        if space.columns[j].family is Family.CONTIGUOUS:
            made = list(parent)
            made[at] = not made[at]
            if space.columns[j].domain.has_null and any(made[start:stop]):
                made[stop - 1] = True
            return tuple(made)
        other = parent[:start] + self.random(1)[0][start:stop] + parent[stop:]
        points = self.points(parent, other)
        if points:
            p = points[self.rng.integers(len(points))]
            return parent[:p] + other[p:]
        return other


@pytest.mark.parametrize("allow_duplicates", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_brood_1_is_the_algorithm_of_the_paper(seed: int, allow_duplicates: bool) -> None:
    settings = GenitorSettings(
        population=30, evaluations=530, mutation=0.1, allow_duplicates=allow_duplicates
    )
    problem = scripted(SPACE, judge)
    run = Run(problem, settings, np.random.default_rng(seed), Watch())
    run.begin()
    twin = Twin(problem, settings, seed)
    while not run.ended:
        run.step()
        twin.step()
        assert [tuple(b.tolist()) for b in run.population.bits] == twin.strings
    assert (run.evaluations, run.ended) == (530, "evaluations")


# Small tables, every scheme of which is known


def small_table(seed: int) -> Histogram:
    """60 rows in four columns of all families, with 4,320 schemes."""
    rng = np.random.default_rng(seed)
    rows = 60
    tree = Hierarchy.from_rows(WORKCLASS, "a test")
    data = {
        "work": rng.choice(list("ABCDEFGH"), rows, p=rng.dirichlet([1] * 8)),
        "age": rng.binomial(5, 0.5, rows),
        "city": [None if rng.random() < 0.2 else str(rng.choice(list("xyz"))) for _ in range(rows)],
        "job": rng.choice(list("ABCDEFGH"), rows, p=rng.dirichlet([1] * 8)),
    }
    quasis = [
        Quasi("work", Family.TAXONOMIC, hierarchy=tree),
        Quasi("age", values=(0, 1, 2, 3, 4, 5)),
        Quasi("city"),
        Quasi("job", Family.FULL_DOMAIN, hierarchy=tree),
    ]
    return count(open_source(data=pa.table({k: pa.array(v) for k, v in data.items()})), quasis)


def problem_of(evaluator: Evaluator, k: int, loss: str) -> Problem:
    histogram = evaluator.histogram
    preference = Preference(loss=0.2, bias=1.0)
    return Problem(
        histogram.space, evaluator.score, evaluator.column_loss, histogram.rows, k,
        preference, loss, evaluator.suppression.budget,
    )  # fmt: skip


def everything(space: Space) -> Bits:
    parts = itertools.product(*(valid_strings(c) for c in space.columns))
    return np.array([np.concatenate(each) for each in parts])


def test_new_reaches_the_known_optimum_on_most_tables() -> None:
    """The first ten seeds, none picked; of the first twenty, 19 succeed."""
    assert sum(reaches_the_optimum(seed) for seed in range(10)) >= 8


def reaches_the_optimum(seed: int) -> bool:
    histogram = small_table(seed)
    k, limit = [(2, 0), (3, 0.1), (4, 1), (5, 1), (3, 0)][seed % 5]
    settings = GenitorSettings(population=100, evaluations=6000, brood=20)
    with Evaluator(
        histogram, suppression=Suppression.given_k(k, limit, histogram.rows), workers=1
    ) as evaluator:
        problem = problem_of(evaluator, k, "glm")
        rng = np.random.default_rng(seed)
        found = genitor(problem, settings, rng, Watch())
        every = everything(histogram.space)
        assert len(every) == 4320
        scores = evaluator.score(histogram.space.batch_of_bits(every))
        feasible = problem.feasible(scores)
        assert found.chosen is not None
        best = exact_loss(problem, scores)[feasible].min()
        return bool(exact_loss(problem, found.scores)[found.chosen] == best)


def outcome(seed: int, **changes: object) -> tuple[Outcome, Histogram]:
    histogram = small_table(42)
    settings = GenitorSettings(population=20, evaluations=100)
    with Evaluator(histogram, suppression=Suppression.given_k(3, 1, 60), workers=1) as evaluator:
        problem = problem_of(evaluator, 3, "nwp")
        rng = np.random.default_rng(seed)
        return genitor(problem, replace(settings, **changes), rng, Watch()), histogram


@pytest.mark.parametrize("crossover", ["new", "trad"])
@pytest.mark.parametrize("brood", [1, 7])
def test_the_same_seed_gives_the_same_outcome(crossover: str, brood: int) -> None:
    one, _ = outcome(5, crossover=crossover, brood=brood)
    two, _ = outcome(5, crossover=crossover, brood=brood)
    rows = range(len(one.solutions))
    assert [one.solutions.scheme(i) for i in rows] == [two.solutions.scheme(i) for i in rows]
    assert (one.chosen, one.trajectory) == (two.chosen, two.trajectory)


@pytest.mark.parametrize("crossover", ["new", "trad"])
def test_scores_are_those_of_a_fresh_measurement(crossover: str) -> None:
    found, histogram = outcome(9, crossover=crossover, brood=7)
    schemes = [found.solutions.scheme(i) for i in range(len(found.solutions))]
    with Evaluator(histogram, suppression=Suppression.given_k(3, 1, 60), workers=1) as fresh:
        scores = fresh.score(schemes)
    assert [found.scores.row(i) for i in range(len(schemes))] == [
        scores.row(i) for i in range(len(schemes))
    ]


def test_a_search_that_may_not_suppress_everything_begins_with_the_coarsest_scheme() -> None:
    """Random schemes are nearly all too fine; by crossing them alone nothing feasible is met."""
    space = Space([column(40, Family.CONTIGUOUS)])
    problem = scripted(space, lambda b: (5 if b.sum() <= 3 else 1, 40 - int(b.sum())))
    found = genitor(
        replace(problem, k=5), GenitorSettings(20, 400, brood=20), np.random.default_rng(1), Watch()
    )
    assert found.chosen is not None
    assert found.scores.k[found.chosen] == 5


# What a run reports


def test_solutions_trade_loss_for_k_and_the_least_feasible_loss_is_chosen() -> None:
    losses = {"000": (1, 3), "001": (2, 5), "010": (2, 4), "100": (5, 4), "111": (4, 9)}
    space = Space([column(4, Family.CONTIGUOUS)])
    problem = scripted(space, lambda b: losses.get(text(b), (3, 7)))
    found = genitor(problem, GenitorSettings(), np.random.default_rng(1), Watch())
    assert [found.solutions.scheme(i).partitions[0].cuts for i in range(2)] == [(), (0,)]
    assert len(found.solutions) == 2
    assert (found.chosen, found.objectives) == (1, ("dcn", "k"))
    assert (found.stopped, found.reproducible) == ("finished", True)  # all eight were scored


@pytest.mark.parametrize("population", [10, 200, 255, 256])
@pytest.mark.parametrize("brood", [1, 20])
def test_a_search_ends_when_every_scheme_is_scored(population: int, brood: int) -> None:
    space = Space([column(9, Family.CONTIGUOUS)])  # 256 schemes
    scored: set[str] = set()

    def judged(string: Bits) -> tuple[int, int]:
        scored.add(text(string))
        return 5, int(text(string), 2) % 37

    settings = GenitorSettings(population=population, evaluations=30_000, brood=brood)
    seen: list[Progress] = []
    watch = Watch(on_progress=seen.append)
    found = genitor(scripted(space, judged), settings, np.random.default_rng(1), watch)
    if population > 10:
        assert (found.stopped, len(scored)) == ("finished", 256)
        assert seen[-1].evaluations < 2_000
    else:  # a small population turns to strangers too seldom to meet all there are
        assert found.stopped in ("finished", "evaluations")


def test_nothing_feasible_is_said_and_the_closest_is_shown() -> None:
    problem = scripted(SPACE, judge, k=9)
    settings = GenitorSettings(population=20, evaluations=200)
    found = genitor(problem, settings, np.random.default_rng(1), Watch())
    assert found.chosen is None
    assert found.scores.k.max() == 3
    assert found.trajectory == ()


def test_the_trajectory_falls_to_the_chosen_loss() -> None:
    seen: list[Progress] = []
    settings = GenitorSettings(population=20, evaluations=305, brood=10)
    watch = Watch(on_progress=seen.append)
    found = genitor(scripted(SPACE, judge), settings, np.random.default_rng(4), watch)
    assert [p.evaluations for p in seen] == [*range(20, 301, 10), 305]
    at, losses = zip(*found.trajectory, strict=True)
    assert list(at) == sorted(set(at))
    assert list(losses) == sorted(set(losses), reverse=True)
    assert found.chosen is not None


@pytest.mark.parametrize("allowed", [False, True])
def test_a_start_is_part_of_the_first_population(allowed: bool) -> None:
    best = np.zeros(SPACE.positions, dtype=bool)
    problem = scripted(SPACE, lambda b: (9, int((b != best).sum())))
    settings = GenitorSettings(population=8, evaluations=8, allow_duplicates=allowed)
    start = np.stack([best, best, np.ones(SPACE.positions, dtype=bool)])
    run = Run(problem, settings, np.random.default_rng(1), Watch())
    run.begin(start)
    copies = [(b == best).all() for b in run.population.bits]
    assert sum(copies) == (2 if allowed else 1)
    assert copies[0]
    assert run.ended == "evaluations"


def test_a_search_ends_when_asked() -> None:
    watch = Watch(patience=3)
    found = genitor(
        scripted(SPACE, lambda b: (9, 1)), GenitorSettings(), np.random.default_rng(1), watch
    )
    assert (found.stopped, found.reproducible) == ("patience", True)
    watch = Watch()
    watch.interrupt()
    found = genitor(scripted(SPACE, judge), GenitorSettings(), np.random.default_rng(1), watch)
    assert (found.stopped, found.reproducible) == ("interrupted", False)
    assert found.chosen is not None


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("population", 1, "greater than or equal to 2"),
        ("evaluations", 0, "greater than or equal to 2"),
        ("crossover", "uniform", "'new', 'new_strangers' or 'trad'"),
        ("bias", 2.5, "less than or equal to 2"),
        ("mutation", -0.1, "greater than or equal to 0"),
        ("brood", 0, "greater than or equal to 1"),
    ],
)
def test_settings_are_checked(key: str, value: object, wanted: str) -> None:
    with pytest.raises(SearchError, match=f"{key} must be {wanted}, not {value!r}"):
        METHODS["genitor"].configured({key: value})
