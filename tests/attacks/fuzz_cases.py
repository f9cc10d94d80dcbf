"""Random tables, policies and places for the fuzz, each drawn from one seed."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from release_oracle import NUMBER, Row, atom, spelled

REASON = "it is a table of the test"
NAMES = ["age", "select", 'x"y', "it's; --", "naïve ☃", "value", "low", "two\nlines", "source",
         "people", "class", "Ünïcode", "n" * 70]  # fmt: skip
TEXTS = ["", " ", "a", "A", "á", "a ", " a", "b'", '"q"', "é☃", "é", "NULL", "null", "a\nb", "😀",
         "a, b", "ß", "SS", "ss", "x;y", "0", "-0", "nan", "%", "_", "\\"]  # fmt: skip
ODD_TEXTS = ["*", "{a, b}", "[1, 2)", "<3", "(suppressed)", "(not in the scheme)"]
DAYS = [dt.date(1970, 1, 1) + dt.timedelta(37 * n * n) for n in range(24)]
TIMES = [dt.datetime.combine(day, dt.time(n % 24, 7 * n % 60)) for n, day in enumerate(DAYS)]
MIDNIGHTS = [dt.datetime.combine(day, dt.time()) for day in DAYS]
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integer": (pa.int32(), [*range(18, 66), 90, -7, 0]),
    "float": (pa.float64(), [n / 4 for n in range(-6, 14)]
              + [-0.0, float("nan"), float("inf"), -float("inf"), 0.1, 1e300, 5e-324]),
    "decimal": (pa.decimal128(12, 2), [Decimal(n) / 4 for n in range(-10, 60, 3)]),
    "date": (pa.date32(), DAYS),
    "timestamp": (pa.timestamp("us"), TIMES),
    "boolean": (pa.bool_(), [False, True]),
    "text": (pa.string(), TEXTS),
}  # fmt: skip
ZIPS = [f"{10000 + 37 * n % 400:05}" for n in range(30)] + ["8001", "8002", "101"]
RANGES: dict[str, tuple[list[Any], list[Any]]] = {  # lowest and highest, granularities
    "integer": ([-10, 95], [5, 7, 20]),
    "float": ([-2, 4], [0.5, 0.25, 1.1]),
    "decimal": ([-3, 16], [2.5, 0.5]),
    "date": (["1969-12-31", "2031-01-15"], ["year", "decade", 1000]),
    "timestamp": (["1969-12-31", "2031-01-15"], ["year", "decade"]),
}
BUILT: dict[str, list[dict[str, Any]]] = {
    "integer": [{"intervals": [5, 10, 20]}, {"intervals": [4], "origin": 1}],
    "float": [{"intervals": [0.5, 1, 2]}],
    "decimal": [{"intervals": [2.5, 5]}],
    "date": [{"date": ["month", "year", "decade"]}, {"date": ["day", "quarter", "century"]},
             {"date": ["week"]}],
    "timestamp": [{"date": ["day", "month", "year"]}, {"date": ["decade"]}],
    "text": [{"mask": {"character": "#"}}],
}  # fmt: skip
METHODS: list[dict[str, Any]] = [
    {"method": "auto", "evaluations": 300, "exact": 40, "rounds": 1},
    {"method": "auto", "evaluations": 60, "exact": 2000, "rounds": 1},
    {"method": "nsga2", "evaluations": 80, "population": 10},
    {"method": "genitor", "evaluations": 60, "population": 10},
    {"method": "genitor", "evaluations": 60, "population": 10, "crossover": "trad"},
    {"method": "poka"},
    {"method": "front"},
    {"method": "exhaustive"},
    {"method": "optimal"},
]
PLACES = {  # where the source may be
    "table": ["connection", "database", "data"],
    "elsewhere": ["database", "parquet"],
    "view": ["connection", "database"],
    "replace": ["connection", "database"],
    "csv": ["connection", "database", "parquet", "data"],
    "parquet": ["connection", "database", "parquet", "data"],
}
MODES = list(PLACES)


@dataclass
class Drawn:
    """A table with a policy, and what is done with it."""

    seed: int
    types: dict[str, pa.DataType]
    kinds: dict[str, str]
    rows: list[Row]
    policy: dict[str, Any]  # without places
    place: str  # where the source is: connection, database, parquet or data
    mode: str
    later: list[int]  # rows that come after the scheme was found
    changed: list[int]  # rows that a view's source loses after the release
    pick: str  # which solution is published: chosen, or any of those found
    trees: dict[str, list[list[str]]] = field(default_factory=dict)
    population: list[Row] = field(default_factory=list)

    def table(self, rows: list[Row]) -> pa.Table:
        return pa.table({n: pa.array([r[n] for r in rows], t) for n, t in self.types.items()})

    def write_trees(self, folder: Path) -> None:
        """Writes the hierarchy files where the policy names them."""
        for number, (name, lines) in enumerate(self.trees.items()):
            path = folder / f"tree {number}.csv"
            path.write_text("".join(";".join(map(_field, line)) + "\n" for line in lines))
            self.policy["columns"][name]["hierarchy"] = str(path)


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def draw(seed: int) -> Drawn:
    """The case of a seed, always the same."""
    return _Artist(random.Random(seed), seed).drawn()


class _Artist:
    def __init__(self, rng: random.Random, seed: int) -> None:
        self.rng = rng
        self.seed = seed
        self.types: dict[str, pa.DataType] = {}
        self.kinds: dict[str, str] = {}
        self.cells: dict[str, list[Any]] = {}
        self.sections: dict[str, dict[str, Any]] = {}
        self.trees: dict[str, list[list[str]]] = {}
        sizes = [(1, 8), (10, 40), (30, 150), (30, 150), (150, 400)]
        self.count = rng.randint(*rng.choice(sizes))

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def drawn(self) -> Drawn:
        rng = self.rng
        subject = self._people() if self.chance(0.35) else None
        mode = rng.choice(MODES)
        place = rng.choice(PLACES[mode])
        quasi = rng.sample(NAMES, rng.choice([1, 2, 2, 3, 3, 4]))
        for name in quasi:
            self._quasi(name)
        self._add("disease", "text", self._skewed(self._diseases(), 0.1), {"role": "sensitive"})
        models = ["disease"]
        if self.chance(0.4):
            pool = rng.sample(range(1000), rng.choice([2, 4, 12, 60]))
            kind = rng.choice(["integer", "float", "decimal"])
            made: dict[str, Callable[[int], Any]] = {
                "integer": int,
                "float": lambda n: n / 8,
                "decimal": lambda n: Decimal(n) / 4,
            }
            cells = self._skewed([made[kind](n) for n in pool], 0.05)
            self._add("income", kind, cells, {"role": "sensitive"})
            models.append("income")
        if self.chance(0.3):
            self._add("ward", "text", self._skewed(["north", "south", "", "it's"], 0.1),
                      {"role": rng.choice(["insensitive", "label"])})  # fmt: skip
        for name in self.sections:
            if self.sections[name]["role"] not in ("quasi", "identifying"):
                self.sections[name]["accept"] = REASON
        self._add("name", "text", [f"Name {n}" for n in range(self.count)], {"role": "identifying"})
        numbered = self.chance(0.5)
        if subject is not None and not numbered and mode != "view" and self.chance(0.5):
            self.sections["who"] = {"role": "pseudonym", "accept": REASON}
        elif subject is not None or mode == "replace":
            numbered = True
        role = {"role": "insensitive", "accept": REASON} if numbered else {"role": "identifying"}
        self._add(NUMBER, "integer", list(range(self.count)), role)
        policy: dict[str, Any] = {"columns": self.sections, "privacy": self._privacy(models)}
        if subject is None:
            policy["one_row_per_person"] = True
        else:
            policy["subject"] = "who"
        population = self._population(policy, quasi) if self.chance(0.2) else []
        self._suppression(policy, mode)
        policy["search"] = dict(rng.choice(METHODS))
        policy["publish"] = {
            "unseen": rng.choice(["error", "leave_out", "top"]),
            "order": rng.choice(["sorted", "shuffled"]),
            "form": rng.choice(["auto", "case", "join"]),
        }
        if self.chance(0.3):
            policy["preference"] = {"nwp": rng.choice([0.1, 0.5]), "necd": rng.choice([0.05, 1.0])}
        names = list(self.cells)
        rng.shuffle(names)
        rows = [{name: self.cells[name][n] for name in names} for n in range(self.count)]
        later: list[int] = []
        if place in ("connection", "database") and self.chance(0.2):
            later = [n for n in range(1, self.count) if self.chance(0.1)]
        changed = [n for n in range(self.count) if self.chance(0.15)] if mode == "view" else []
        return Drawn(
            self.seed, {name: self.types[name] for name in names}, self.kinds, rows, policy, place,
            mode, later, changed, rng.choice(["chosen", "chosen", "any"]), self.trees, population,
        )  # fmt: skip

    def _add(self, name: str, kind: str, cells: list[Any], section: dict[str, Any]) -> None:
        self.types[name], _ = POOLS[kind]
        self.kinds[name], self.cells[name], self.sections[name] = kind, cells, section

    def _people(self) -> list[int]:
        many = max(1, self.count // self.rng.choice([1, 2, 3, 6]))
        people = [self.rng.randrange(many) for _ in range(self.count)]
        self._add("who", "integer", people, {"role": "identifying"})
        return people

    def _diseases(self) -> list[str]:
        pool = ["flu", "it's", "FLU", "cold", '"q"', "é", "gout", "angina", "", "measles"]
        return self.rng.sample(pool, self.rng.choice([2, 3, 3, 5, 10]))

    def _skewed(self, pool: list[Any], nulls: float) -> list[Any]:
        """Cells of which some values are much more frequent than others."""
        power = self.rng.choice([0, 0.5, 1, 2])
        weights = [1 / (n + 1) ** power for n in range(len(pool))]
        share = self.rng.choice([0, 0, nulls])
        return [None if self.chance(share) else cell
                for cell in self.rng.choices(pool, weights, k=self.count)]  # fmt: skip

    def _quasi(self, name: str) -> None:
        rng = self.rng
        kind = rng.choice(sorted(POOLS))
        pool = list(POOLS[kind][1])
        zips = kind == "text" and self.chance(0.5)
        if zips:
            pool = list(ZIPS)
        elif kind == "text" and self.chance(0.1):
            pool += ODD_TEXTS
        elif kind == "timestamp" and self.chance(0.3):
            pool = list(MIDNIGHTS)
        pool = rng.sample(pool, rng.randint(1, min(len(pool), rng.choice([3, 8, 25]))))
        section: dict[str, Any] = {"role": "quasi"}
        form = rng.choice(["observed", "values", "range", "built", "built", "file"])
        if form == "range" and kind in RANGES:
            section["range"], steps = RANGES[kind]
            section["granularity"] = rng.choice(steps)
            section["output"] = rng.choice(["label", "label", "lower", "midpoint", "bounds"])
            pool = [v for v in pool if kind != "float" or -2 <= v <= 4] or [POOLS[kind][1][8]]
            if self.chance(0.3) and kind in BUILT and kind != "timestamp":
                section["hierarchy"] = BUILT[kind][0]
                section["family"] = rng.choice(["contiguous", "taxonomic", "full-domain"])
        elif form == "built" and kind in BUILT:
            masks = [{"mask": {}}, {"mask": {"character": "x", "from": "left"}}]
            section["hierarchy"] = rng.choice(masks if zips else BUILT[kind])
            section["family"] = rng.choice(["contiguous", "taxonomic", "full-domain"])
        elif form == "file" and kind != "timestamp":
            listed = list({atom(v): v for v in pool}.values())
            self.trees[name] = self._tree([spelled(v) for v in listed])
            section["hierarchy"] = "written later"
            section["family"] = rng.choice(["contiguous", "taxonomic", "full-domain"])
        elif form == "values":
            listed = list({atom(v): v for v in pool}.values())
            section["values"] = [
                spelled(v) if kind in ("decimal", "date", "timestamp") else v for v in listed
            ]
            section["family"] = rng.choice(["contiguous", "full-domain"])
        if "hierarchy" in section and self.chance(0.25):
            section["min_level"] = 1
        if form == "built" and "hierarchy" in section and self.chance(0.1):
            section["max_level"] = 1
        if self.chance(0.3):
            section["open_ends"] = self.chance(0.5)
        if self.chance(0.2) and section.get("output", "label") == "label":
            section["null_label"] = rng.choice(["unknown", "it's NULL"])
        if self.chance(0.2):
            section["weight"] = rng.choice([0.5, 3])
        if self.chance(0.2):
            section["form"] = rng.choice(["case", "join"])
        self._add(name, kind, self._skewed(pool, 0.12), section)

    def _tree(self, leaves: list[str]) -> list[list[str]]:
        """Nested random groups of neighbours, finest first, a single root last."""
        lines = [[leaf] for leaf in leaves]
        groups = list(range(len(leaves)))
        for level in range(1, self.rng.randint(1, 3)):
            numbers, number = [], 0
            for n, group in enumerate(groups):
                number += n > 0 and group != groups[n - 1] and self.chance(0.5)
                numbers.append(number)
            groups = numbers
            for line, group in zip(lines, groups, strict=True):
                line.append(f"level {level} {group}")
        root = self.rng.choice(["*", "all of it"])
        return [[*line, root] for line in lines]

    def _privacy(self, sensitive: list[str]) -> dict[str, Any]:
        rng = self.rng
        privacy: dict[str, Any] = {"k": rng.choice([1, 2, 2, 3, 4, 6])}
        for column in sensitive:
            key, wish = self._model(column)
            if key == "homogeneity":
                wish["columns"] = [column, *privacy.get(key, {}).get("columns", [])]
                privacy[key] = wish
            else:
                privacy.setdefault(key, []).append({**wish, "columns": [column]})
            if key != "homogeneity" and self.chance(0.15):
                more, wish = self._model(column)
                if more != "homogeneity":
                    privacy.setdefault(more, []).append({**wish, "columns": [column]})
        return privacy

    def _model(self, column: str) -> tuple[str, dict[str, Any]]:
        rng = self.rng
        makers: list[Callable[[], tuple[str, dict[str, Any]]]] = [
            lambda: ("l_diversity", {"l": rng.choice([2, 2, 3])}),
            lambda: ("l_diversity", {"kind": "entropy", "l": rng.choice([1.3, 1.8, 2.5])}),
            lambda: ("l_diversity", {"kind": "recursive", "l": 2, "c": rng.choice([1.5, 3, 5])}),
            lambda: ("t_closeness", {"t": rng.choice([0.15, 0.3, 0.5])}),
            lambda: ("t_closeness", self._distance(column)),
            lambda: ("beta_likeness", {"beta": rng.choice([0.5, 1, 2])}),
            lambda: ("delta_disclosure", self._delta(column)),
            lambda: ("alpha_k", {"alpha": rng.choice([0.5, 0.65, 0.8])}),
            lambda: ("homogeneity", {"accept": REASON}),
        ]
        return rng.choice(makers)()

    def _delta(self, column: str) -> dict[str, Any]:
        """Every class must have every value, so of many values only one class would be left."""
        values = sorted({cell for cell in self.cells[column] if cell is not None})
        self.cells[column] = [
            None if cell is None else values[values.index(cell) % 2] for cell in self.cells[column]
        ]
        return {"delta": self.rng.choice([0.3, 0.5, 0.7, 1])}

    def _distance(self, column: str) -> dict[str, Any]:
        wish: dict[str, Any] = {"t": self.rng.choice([0.1, 0.2, 0.3, 0.4])}
        if column == "income":
            return {**wish, "distance": "ordered"}
        values = sorted({cell for cell in self.cells[column] if cell is not None})
        if values:
            self.trees[column] = self._tree(values)
            self.sections[column]["hierarchy"] = "written later"
            wish["distance"] = "hierarchical"
        return wish

    def _suppression(self, policy: dict[str, Any], mode: str) -> None:
        if self.chance(0.55):
            limit = self.rng.choice([0.05, 0.1, 0.29, 0.5, 1.0])
            policy["suppression"] = {"limit": limit}
            if self.chance(0.05 if mode == "view" else 0.3):
                policy["suppression"]["rows"] = "mark"
                if self.chance(0.5):
                    policy["suppression"]["marker"] = self.rng.choice(["it's gone", "#", "a"])

    def _population(self, policy: dict[str, Any], quasi: list[str]) -> list[Row]:
        """The people of the source and others, with some values that the source lacks."""
        policy["privacy"]["k_map"] = self.rng.choice([2, 3, 5, 9])
        policy["population"] = {}
        rows = [{name: self.cells[name][n] for name in quasi} for n in range(self.count)]
        for _ in range(self.rng.randint(0, self.count)):
            row = dict(self.rng.choice(rows))
            for name in quasi:
                if self.chance(0.3):
                    row[name] = self.rng.choice([*POOLS[self.kinds[name]][1], None])
            rows.append(row)
        return rows
