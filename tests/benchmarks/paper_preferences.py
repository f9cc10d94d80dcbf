"""Dewri et al. (GECCO 2009, section 6; TKDE, section 8): NSGA-II with publisher preferences.

Adult, nine contiguous columns, 5-year ages, nothing suppressed. Figures are numbered as in the
second paper; Figures 1 to 4 of the first are its 2 to 5. The order of the values in a column
and the weight vectors are not published, so it is the shape that compares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from adult import NAMES, nine_columns
from runs import Kept, Row, Run, Search, all_the_same, at_least_as_good, good_enough

from sqlanon.metrics.preference import Preference
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.genitor import GenitorSettings, genitor
from sqlanon.search.lattice.poka import PokaSettings, poka
from sqlanon.search.nsga2 import Nsga2Settings, nsga2

WEIGHTS = {
    "wv1": (1, 1, 1, 1, 1, 1, 1, 1, 1),  # all equal
    "wv2": (19, 6, 15, 6, 13, 4, 1, 40, 1),  # by the size of the domain: |Σ| − 1
    "wv3": (4, 1, 1, 4, 1, 4, 4, 1, 1),  # the person: age, marital status, race, sex
    "wv4": (1, 4, 4, 1, 4, 1, 1, 1, 4),  # the work: class, education, occupation, salary
    "wv5": (5, 1, 1, 1, 1, 1, 1, 5, 1),  # age and native country
}
"""Five weight vectors of our own, in the order of the columns."""

PAPER_POPULATIONS = {
    100: {"pref_dev": -0.661, "k": 5, "unique": 55},
    250: {"pref_dev": -0.610, "k": 7, "unique": 52},
    500: {"pref_dev": -0.649, "k": 5, "unique": 54},
}
"""Figure 3; unique counts the solutions of the final population."""

KEYS = {"figure 2": "k_pref", "figure 3": "population", "figure 4": "weights", "figure 5": "necd"}
"""What each figure varies."""
AS_GOOD = 0.001
"""By so much an answer may be worse than the best known one to be taken for it."""
LOSS_ONLY = Preference(loss=0.2, bias=1.0)
LOSS_AND_BIAS = Preference(loss=0.2, bias=0.1)


@dataclass(frozen=True)
class Plan:
    """How much to run; with `until_best`, runs of auto end at the best answer known."""

    figures: tuple[str, ...] = tuple(KEYS)
    seeds: tuple[int, ...] = (1, 2)
    evaluations: int = 50_000
    ks: tuple[int, ...] = (2, 5, 10, 25, 50, 100)
    populations: tuple[int, ...] = (100, 250, 500)
    weights: tuple[str, ...] = tuple(WEIGHTS)
    biases: tuple[float, ...] = (1.0, 0.5, 0.1, 0.05, 0.01)
    genitor: GenitorSettings = field(default_factory=lambda: GenitorSettings(brood=20))
    auto: AutoSettings = field(default_factory=lambda: AutoSettings(effort="thorough"))
    until_best: bool = False


QUICK = Plan(
    evaluations=400,
    ks=(5, 50),
    populations=(20, 40),
    weights=("wv1", "wv2"),
    biases=(1.0, 0.1),
    genitor=GenitorSettings(population=50, evaluations=400, brood=20),
    auto=AutoSettings(evaluations=2_000, rounds=1),
)


class Experiments:
    """The runs behind the figures; one that several figures share is done once."""

    def __init__(self, plan: Plan, note: Callable[[str], None], kept: Kept) -> None:
        self._plan = plan
        self._kept = kept
        self._note = note
        self._listed: defaultdict[str, list[tuple[float, float, int]]] = defaultdict(list)
        self._histogram = cache(lambda weights: nine_columns(WEIGHTS[weights]))
        self._compared = cache(self._compare)

    def run(self) -> Row:
        run = {
            "figure 2": self._figure_2,
            "figure 3": self._figure_3,
            "figure 4": self._figure_4,
            "figure 5": self._figure_5,
        }
        figures = {figure: run[figure]() for figure in self._plan.figures}
        for figure, content in figures.items():
            for row in content[KEYS[figure]].values():
                row.update(self._against_all_known(row))
        return {"evaluations": self._plan.evaluations, **figures}

    def _figure_2(self) -> Row:
        """k_pref against what is lost, and the other searches on the same problem."""
        rows = {}
        for k in self._plan.ks:
            row = self._of(k=k)
            self._note(f"figure 2, k_pref {k}: GENITOR and POkA")
            others = {
                "genitor": self._other(genitor, self._plan.genitor, k, "nwp"),
                "poka": self._other(poka, PokaSettings(), k, "glm"),
            }
            known = [*row["nsga2"], *others.values()]
            row |= others
            row["auto_at_least_as_good"] = all(at_least_as_good(a, known) for a in row["auto"])
            row["efficient"] = all(_efficient(n) for n in row["nsga2"])
            rows[str(k)] = row
        return {"preference": vars(LOSS_ONLY), "k_pref": rows}

    def _figure_3(self) -> Row:
        rows = {}
        for population in self._plan.populations:
            paper = PAPER_POPULATIONS.get(population)
            rows[str(population)] = self._of(population=population) | {"paper": paper}
        return {"k_pref": 5, "preference": vars(LOSS_ONLY), "population": rows}

    def _figure_4(self) -> Row:
        rows = {}
        for name in self._plan.weights:
            vector = dict(zip(NAMES, WEIGHTS[name], strict=True))
            rows[name] = self._of(weights=name, preference=LOSS_AND_BIAS) | {"vector": vector}
        return {"k_pref": 5, "preference": vars(LOSS_AND_BIAS), "weights": rows}

    def _figure_5(self) -> Row:
        rows = {
            str(bias): self._of(weights="wv2", preference=Preference(loss=0.2, bias=bias))
            for bias in self._plan.biases
        }
        return {"k_pref": 5, "weights": "wv2", "nwp": 0.2, "necd": rows}

    def _of(
        self,
        k: int = 5,
        population: int | None = None,
        weights: str = "wv1",
        preference: Preference = LOSS_ONLY,
    ) -> Row:
        size = population or self._plan.populations[0]
        problem = {"k_pref": k, "weights": weights, "preference": vars(preference)}
        return {"problem": problem} | self._compared(k, size, weights, preference)

    def _against_all_known(self, row: Row) -> Row:
        """How far auto is from the best that any run with the same weights has listed.

        A solution found for another preference or k_pref may be better than what the searches
        for this one found.
        """
        problem = row["problem"]
        nwp, necd, k = np.array(self._listed[problem["weights"]]).T
        enough = k >= problem["k_pref"]
        best = Preference(**problem["preference"]).ach(nwp[enough], necd[enough]).min()
        gaps = [a["ach"] / best - 1 for a in row["auto"] if a["feasible"]]
        return {"best_known_ach": float(best), "auto_gap": max(gaps, default=None)}

    def _compare(self, k: int, population: int, weights: str, preference: Preference) -> Row:
        """NSGA-II and auto from several seeds."""
        settings = Nsga2Settings(population=population, evaluations=self._plan.evaluations)
        seeds = self._plan.seeds
        self._note(f"k_pref {k}, population {population}, {weights}, NECD {preference.bias}")
        evolved = [self._solved(weights, nsga2, settings, s, k, preference) for s in seeds]
        best = [self._solved(weights, auto, self._plan.auto, s, k, preference) for s in seeds]
        for row in (*evolved, *best):
            self._listed[weights] += row["feasible_points"]
        return {
            "nsga2": evolved,
            "auto": best,
            "nsga2_same_from_every_seed": all_the_same(evolved),
            "auto_same_from_every_seed": all_the_same(best),
            "auto_at_least_as_good": all(at_least_as_good(a, evolved) for a in best),
        }

    def _other(self, search: Search, settings: object, k: int, loss: str) -> Row:
        return self._solved("wv1", search, settings, self._plan.seeds[0], k, LOSS_ONLY, loss)

    def _solved(
        self,
        weights: str,
        search: Search,
        settings: object,
        seed: int,
        k: int,
        preference: Preference,
        loss: str = "nwp",
    ) -> Row:
        ends = self._plan.until_best and search is auto
        enough = good_enough(weights, k, preference, AS_GOOD) if ends else None
        run = Run(weights, search, settings, seed, k, preference, loss, enough=enough)
        row = self._kept.answer(run, self._histogram(weights))
        return {key: row[key] for key in row if key != "trajectory"}


def _efficient(row: Row) -> bool:
    """Whether no other feasible solution of the run is better in NWP and NECD (Theorem 1)."""
    if not row["feasible"]:
        return False
    here = (row["nwp"], row["necd"])
    points = [point[:2] for point in row["feasible_points"]]
    return not any(p != here and p[0] <= here[0] and p[1] <= here[1] for p in points)


def lines(result: Row) -> list[str]:
    """The figures as text."""
    text = [
        f"NSGA-II with preferences, {result['evaluations']:,} evaluations",
        "gap: how far auto is at worst from the best solution that any run here has listed",
    ]
    titles = {
        "figure 2": "k_pref at NWP 0.2, NECD 1.0",
        "figure 3": "population at k_pref 5",
        "figure 4": "weight vector at k_pref 5, NWP 0.2, NECD 0.1",
        "figure 5": "NECD preference at k_pref 5, NWP 0.2, weights wv2",
    }
    for figure in (name for name in titles if name in result):
        key, title = KEYS[figure], titles[figure]
        text += ["", f"Figure {figure[-1]}: {title}", _header(key)]
        for name, row in result[figure][key].items():
            text.append(_line(name, row))
            if figure == "figure 2":
                text += [_other_line(n, row[n]) for n in ("genitor", "poka")]
            if figure == "figure 3" and row["paper"]:
                text.append(f"{'':<11}the paper: k {row['paper']['k']}, {_paper_dev(row)}")
            if figure == "figure 4" and row["nsga2"][0]["feasible"]:
                groups = row["nsga2"][0]["groups"].items()
                text.append(f"{'':<11}groups: " + ", ".join(f"{c} {g}" for c, g in groups))
    return text


def _paper_dev(row: Row) -> str:
    return f"pref_dev {row['paper']['pref_dev']:.3f}, {row['paper']['unique']} unique solutions"


def _header(key: str) -> str:
    names = ("k", "NWP", "NECD", "ach", "pref_dev", "listed", "distinct", "s", "seeds")
    auto_names = ("ach", "s", "seeds", "as good", "gap")
    return (f"  {key:<11}" + "".join(f"{n:>9}" for n in names) + "   auto:") + "".join(
        f"{n:>9}" for n in auto_names
    )


def _line(name: str, row: Row) -> str:
    n, a = row["nsga2"][0], row["auto"][0]
    if not n["feasible"] or not a["feasible"]:
        return f"  {name:<11}nothing feasible"
    same = ("differ", "same")
    return (
        f"  {name:<11}{n['k']:>9}{n['nwp']:>9.4f}{n['necd']:>9.4f}{n['ach']:>9.5f}"
        f"{n['pref_dev']:>9.4f}{n['listed']:>9}{n['evaluations']['distinct']:>9}"
        f"{n['seconds']:>9.1f}{same[row['nsga2_same_from_every_seed']]:>9}        "
        f"{a['ach']:>9.5f}{a['seconds']:>9.1f}{same[row['auto_same_from_every_seed']]:>9}"
        f"{'yes' if row['auto_at_least_as_good'] else 'NO':>9}{row['auto_gap']:>9.2%}"
    )


def _other_line(name: str, row: Row) -> str:
    if not row["feasible"]:
        return f"    {name:<9}nothing feasible"
    return (
        f"    {name:<9}{row['k']:>9}{row['nwp']:>9.4f}{row['necd']:>9.4f}{row['ach']:>9.5f}"
        f"{row['pref_dev']:>9.4f}{row['listed']:>9}{row['evaluations']['distinct']:>9}"
        f"{row['seconds']:>9.1f}"
    )
