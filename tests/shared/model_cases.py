"""Patients of four towns, a policy for every privacy model, and which towns violate it.

What is expected comes from tests/reference/model_oracle.py, which works out the definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import yaml
from model_oracle import Shares

TOWNS = ("Bonn", "Lima", "Oslo", "Rome")
TREE = {"flu": ("lung", "any"), "cold": ("lung", "any"), "ulcer": ("gut", "any")}
LINES = [[ill, *path] for ill, path in TREE.items()]
PAYS = (10, 20, 30, 40, 50)
# By town the number of rows with flu, cold, ulcer and without an illness.
ILL = {"Bonn": (4, 3, 3, 2), "Oslo": (6, 3, 2, 1), "Rome": (12, 0, 0, 0), "Lima": (0, 8, 0, 4)}
PEOPLE_OF = {"Bonn": 30, "Oslo": 13, "Rome": 12, "Lima": 24}
"""How many people of the population live there."""
APART = {"version": 1, "columns": {"town": {"groups": [[town] for town in TOWNS]}}}
TOGETHER = {"version": 1, "columns": {"town": {"groups": [list(TOWNS)]}}}
REASON = "it is in the test"


def patients() -> pd.DataFrame:
    """Every person has two or three rows, neighbours in the list, some in two towns."""
    ills = ("flu", "cold", "ulcer", None)
    rows = [
        (town, ill) for town in TOWNS for ill, n in zip(ills, ILL[town], strict=True)
        for _ in range(n)
    ]  # fmt: skip
    return pd.DataFrame(
        {
            "who": [f"p{i * 2 // 5}" for i in range(len(rows))],
            "town": [town for town, _ in rows],
            "ill": [ill for _, ill in rows],
            "pay": [10 * (1 + i % 5) if town != "Lima" else 50 for i, (town, _) in enumerate(rows)],
        }
    )


def population() -> pd.DataFrame:
    return pd.DataFrame({"town": [town for town, n in PEOPLE_OF.items() for _ in range(n)]})


@dataclass(frozen=True)
class Case:
    """A model: its keys in `privacy`, how `check` asks for it, and when a class violates it."""

    privacy: dict[str, Any]
    asked: dict[str, Any]
    violates: Callable[[Shares, Shares], bool]
    column: str = "ill"
    sections: dict[str, Any] = field(default_factory=dict)

    def is_unsafe(self, table: pd.DataFrame, town: str, subject: bool, k: int) -> bool:
        """Whether a town is below k or violates the model."""
        if "k_map" in self.privacy:
            return bool(PEOPLE_OF[town] < self.privacy["k_map"])
        whole = self._pairs(table, subject)
        members = self._pairs(table[table["town"] == town], subject)
        here = Shares.of(members)
        return here.people < k or self.violates(here, Shares.of(whole))

    def _pairs(self, table: pd.DataFrame, subject: bool) -> list[tuple[Any, Any]]:
        people = table["who"] if subject else table.index
        return [
            (person, None if pd.isna(value) else value)
            for person, value in zip(people, table[self.column], strict=True)
        ]


def _l(**keys: Any) -> dict[str, Any]:
    return {"l_diversity": {"columns": ["ill"], **keys}}


CASES = {
    "distinct": Case(_l(l=2), {"l": 2}, lambda p, q: p.distinct() < 2),
    "entropy": Case(
        _l(kind="entropy", l=1.95),
        {"l": 1.95, "l_kind": "entropy"},
        lambda p, q: p.perplexity() < 1.95,
    ),
    "recursive": Case(
        _l(kind="recursive", c=1.5, l=2),
        {"l": 2, "l_kind": "recursive", "c": 1.5},
        lambda p, q: not p.recursive(2) < 1.5,
    ),
    "equal": Case(
        {"t_closeness": {"t": 0.3}}, {"t": 0.3}, lambda p, q: p.equal(q) > Fraction(3, 10)
    ),
    "ordered": Case(
        {"t_closeness": {"t": 0.25}}, {"t": 0.25}, lambda p, q: p.ordered(q, PAYS) > 0.25, "pay"
    ),
    "hierarchical": Case(
        {"t_closeness": {"t": 0.25}},
        {"t": 0.25, "hierarchy": {"ill": "ill.csv"}},
        lambda p, q: p.hierarchical(q, LINES) > 0.25,
    ),
    "beta": Case(
        {"beta_likeness": {"beta": 0.8}}, {"beta": 0.8}, lambda p, q: p.gain(q) > Fraction(4, 5)
    ),
    "delta": Case(
        {"delta_disclosure": {"delta": 1.2}}, {"delta": 1.2}, lambda p, q: not p.ratio(q) < 1.2
    ),
    "alpha": Case(
        {"alpha_k": {"alpha": 0.6}}, {"alpha": 0.6}, lambda p, q: p.share() > Fraction(3, 5)
    ),
    "k-map": Case(
        {"k_map": 13, "homogeneity": {"accept": REASON}},
        {"k_map": 13},
        lambda p, q: False,
        sections={"population": {"table": "everybody"}},
    ),
}  # fmt: skip


def safe_towns(case: Case, subject: bool, k: int = 3) -> list[str]:
    table = patients()
    return [town for town in TOWNS if not case.is_unsafe(table, town, subject, k)]


def write(folder: Path, case: Case, *, subject: bool = False, **sections: Any) -> Path:
    """The database, the hierarchy and the policy of a model."""
    with duckdb.connect(folder / "town.duckdb") as connection:
        for name, frame in (("patients", patients()), ("everybody", population())):
            connection.register("frame", frame)
            connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM frame")
            connection.unregister("frame")
    (folder / "ill.csv").write_text("".join(";".join(line) + "\n" for line in LINES))
    sensitive: dict[str, Any] = {"role": "sensitive", "accept": REASON}
    hierarchy = {"hierarchy": "ill.csv"} if "hierarchy" in case.asked else {}
    other = {"ill": "pay", "pay": "ill"}[case.column]
    policy = {
        "source": {"connection": "duckdb:///town.duckdb", "table": "patients"},
        "columns": {
            "town": {"role": "quasi", "values": list(TOWNS)},
            case.column: sensitive | hierarchy,
            other: {"role": "insensitive", "accept": REASON},
            "who": {"role": "pseudonym", "accept": REASON} if subject else {"role": "identifying"},
        },
        **({"subject": "who"} if subject else {"one_row_per_person": True}),
        "privacy": {"k": 3, **case.privacy},
        "suppression": {"limit": 1.0},
        "publish": {"to": "released"},
        **case.sections,
        **sections,
    }
    file = folder / "policy.yml"
    file.write_text(yaml.safe_dump(policy, sort_keys=False))
    return file


def rows_of(frame: pd.DataFrame, columns: Sequence[str] = ("town", "ill", "pay")) -> list[Any]:
    """Rows in an order of their own, NULL as None."""
    plain = frame[list(columns)].astype(object).where(frame[list(columns)].notna(), None)
    return sorted(map(tuple, plain.itertuples(index=False)), key=repr)
