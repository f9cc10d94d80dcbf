"""Random tables with sensitive columns, random privacy models, and what is left of classes.

What classes reach and which of them go is worked out by the words of the models.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from model_oracle import Shares

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.counting.population import Reach, count_population
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source
from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.beta_likeness import BetaLikeness
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.k_map import KMap
from sqlanon.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance

WORDS = ["flu", "", "cold", "NULL", "a'b", '"', "naïve ☃"]
TREE = {
    "flu": ("flu", "lungs", "body"), "cold": ("cold", "lungs", "body"), "": ("", "none", "body"),
    "NULL": ("NULL", "none", "body"), "a'b": ("a'b", "rest", "body"), '"': ('"', "rest", "body"),
    "naïve ☃": ("naïve ☃", "rest", "body"),
}  # fmt: skip
HIERARCHY = Hierarchy.from_rows(list(TREE.values()), "test")
WORD, NUMBER = 'ill "ness"', "pay"
ATOMS = {"a": (0, 2, 4, 6, 8, 10), "b": (0, 1, 2, 5)}


@dataclass
class Table:
    """Two quasi-identifiers, two sensitive columns, a label, and who the rows are about."""

    rows: int
    rng: random.Random
    by_subject: bool
    quasi: dict[str, list[int]] = field(default_factory=dict)
    population: dict[str, list[int | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng, n = self.rng, self.rows
        self.quasi = {name: [rng.choice(all_) for _ in range(n)] for name, all_ in ATOMS.items()}
        words = rng.sample(WORDS, rng.randint(1, len(WORDS)))
        self.words = [rng.choice([*words, None]) for _ in range(n)]
        pays = [1000, 2000, 3000, 7500, None][: rng.randint(1, 5)]
        self.pays = [rng.choice(pays) for _ in range(n)]
        self.label = [rng.choice("xyz") for _ in range(n)]
        self.people = [rng.randrange(max(1, n // 2)) if self.by_subject else i for i in range(n)]
        self.population = {
            name: [rng.choice([*all_, *all_, -1, 3, 4, 7, 11, None]) for _ in range(3 * n)]
            for name, all_ in ATOMS.items()
        }
        kinds = ("whole", "between", "beyond")
        self.reaches = {
            name: Reach(**{kind: rng.random() < 0.5 for kind in kinds}) for name in ATOMS
        }
        self.citizens = [rng.randrange(2 * n) if self.by_subject else i for i in range(3 * n)]

    def histogram(self) -> Histogram:
        columns = {
            **self.quasi, WORD: pa.array(self.words, pa.string()),
            NUMBER: pa.array(self.pays, pa.int64()), "label": self.label, "who": self.people,
        }  # fmt: skip
        quasis = [Quasi(name, values=all_) for name, all_ in ATOMS.items()]
        source = open_source(data=pa.table(columns))
        others = open_source(data=pa.table({**self.population, "citizen": self.citizens}))
        try:
            counted = count(
                source,
                quasis,
                subject="who" if self.by_subject else None,
                facets=[WORD, NUMBER, "label"],
            )
            people = count_population(
                others,
                quasis,
                counted.space,
                list(self.reaches.values()),
                "citizen" if self.by_subject else None,
            )
        finally:
            source.engine.close()
            others.engine.close()
        return Histogram(
            counted.space, counted.tally, counted.rows, counted.people, counted.facets,
            counted.subject, people,
        )  # fmt: skip

    def classes(self, bits: list[bool]) -> dict[Hashable, list[int]]:
        found: dict[Hashable, list[int]] = {}
        for row in range(self.rows):
            found.setdefault(self.key(self.quasi, bits, row), []).append(row)
        return found

    def key(
        self, values: Mapping[str, Sequence[int | None]], bits: list[bool], row: int
    ) -> Hashable:
        """The group of every column that takes the row's value, None where none does."""
        cuts = {"a": bits[:5], "b": bits[5:]}
        return tuple(self.group(name, cuts[name], values[name][row]) for name in ATOMS)

    def group(self, name: str, cuts: list[bool], value: int | None) -> tuple[int, ...] | None:
        reach = self.reaches[name]
        groups = [[ATOMS[name][0]]]
        for cut, atom in zip(cuts, ATOMS[name][1:], strict=True):
            groups = [*groups, [atom]] if cut else [*groups[:-1], [*groups[-1], atom]]
        for number, group in enumerate(groups):
            first, last = number == 0, number == len(groups) - 1
            takes = value in group or (first and last and reach.whole)
            if value is not None and reach.between and len(group) > 1:
                above = value >= group[0] or (first and reach.beyond)
                end = math.inf if reach.beyond else group[-1] + 0.5
                takes |= above and value < (end if last else groups[number + 1][0])
            if takes:
                return tuple(group)
        return None

    def reached(self, model: Model, bits: list[bool], key: Hashable, rows: list[int]) -> float:
        if isinstance(model, KMap):
            return len({
                self.citizens[i]
                for i in range(3 * self.rows)
                if self.key(self.population, bits, i) == key
            })  # fmt: skip
        values = self.words if model.column == WORD else self.pays
        pairs = list(zip(self.people, values, strict=True))
        order = sorted({v for v in values if v is not None}) + [None] * (None in values)
        p, q = Shares.of(pairs[row] for row in rows), Shares.of(pairs)
        match model:
            case DistinctDiversity():
                return p.distinct()
            case EntropyDiversity():
                return p.perplexity()
            case RecursiveDiversity():
                return float(p.recursive(model.l))
            case Closeness(distance=Distance.EQUAL):
                return float(p.equal(q))
            case Closeness(distance=Distance.ORDERED):
                return float(p.ordered(q, order))
            case Closeness():
                return float(p.hierarchical(q, list(TREE.values())))
            case BetaLikeness():
                return float(p.gain(q))
            case DeltaDisclosure():
                return p.ratio(q)
            case AlphaAnonymity():
                return float(p.share())
        raise AssertionError(model)


def bad(model: Model, reached: float) -> bool:
    """By the words of the models, not by their code; bounds lie between what can be reached."""
    match model:
        case DistinctDiversity():
            return reached < model.l
        case EntropyDiversity():
            return reached < model.l - 1e-8
        case RecursiveDiversity():
            return not reached < model.c - 1e-10
        case Closeness():
            return reached > model.t + 1e-8
        case BetaLikeness():
            return reached > model.beta + 1e-8
        case DeltaDisclosure():
            return not reached < model.delta - 1e-10
        case AlphaAnonymity():
            return reached > model.alpha + 1e-8
        case KMap():
            return reached < model.k
    raise AssertionError(model)


def random_models(rng: random.Random) -> list[Model]:
    return rng.sample(
        [
            DistinctDiversity(WORD, rng.randint(1, 4)),
            DistinctDiversity(NUMBER, 2),
            EntropyDiversity(WORD, rng.choice([1, 1.5, 2, 2.7])),
            RecursiveDiversity(WORD, rng.choice([0.5, 1, 2, 3.5]), rng.randint(1, 4)),
            RecursiveDiversity(NUMBER, 2, 2),
            Closeness(WORD, rng.choice([0.1, 0.3, 0.5]), Distance.EQUAL),
            Closeness(WORD, rng.choice([0.1, 0.3, 0.5]), Distance.HIERARCHICAL),
            Closeness(NUMBER, rng.choice([0.1, 0.25]), Distance.ORDERED),
            BetaLikeness(WORD, rng.choice([0.5, 1, 3])),
            DeltaDisclosure(NUMBER, rng.choice([0.5, 1, 2])),
            AlphaAnonymity(WORD, rng.choice([0.4, 0.5, 0.75])),
            KMap(None, rng.randint(1, 6)),
        ],
        rng.randint(1, 5),
    )


def kept(
    classes: dict[Hashable, list[int]],
    sizes: dict[Hashable, int],
    unsafe: set[Hashable],
    given_k: bool,
    budget: int,
) -> set[Hashable]:
    """The classes left: unsafe ones go first, whole sizes, the smallest first."""
    left, spent = set(classes), 0
    for group in (unsafe, set() if given_k else set(classes) - unsafe):
        for size in sorted({sizes[key] for key in group}):
            these = {key for key in group if sizes[key] == size}
            spent += sum(len(classes[key]) for key in these)
            if spent > budget:
                return left
            left -= these
    return left
