"""What a search found, as people and programs read it: result.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from sqlanon.api.solution import Solution, format_score
from sqlanon.api.written import RESULT, refuse_to_replace
from sqlanon.errors import SchemeError, SearchError
from sqlanon.model import counted
from sqlanon.scheme.scheme_file import observed_domains, write_document

VERSION = 1
COLUMNS = ("k", "classes", "suppressed", "nwp", "necd", "ach", "pref_dev", "glm_share")


@dataclass(frozen=True, repr=False)
class SearchResult:
    """Solutions that do not dominate each other; `chosen` is the row of the answer or None.

    `stopped` tells why the search ended; a result that a clock or Ctrl-C ended is not
    reproducible. `required_k` is what feasible solutions reach, `required` what they satisfy
    beyond it. `unreachable` says what of that no release can satisfy, where nothing is chosen.
    `choices` has the row of the answer for every k that was searched for, `chosen` being that for
    the smallest, which is `required_k`.
    """

    method: str
    objectives: tuple[str, ...]
    seed: int
    solutions: tuple[Solution, ...]
    chosen: int | None
    evaluations: dict[str, int]
    seconds: float
    stopped: str
    reproducible: bool
    notes: tuple[str, ...]
    policy: str
    source: dict[str, Any]
    required_k: int
    required: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    policy_parts: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[int, int | None] = field(default_factory=dict)

    @property
    def solution(self) -> Solution | None:
        """The chosen solution."""
        return None if self.chosen is None else self.solutions[self.chosen]

    def solution_for(self, k: int) -> Solution | None:
        """The answer for one of the k that were searched for; None where none reaches it."""
        if k not in self.choices:
            there = ", ".join(map(str, self.choices))
            raise SearchError(f"the search was not for k = {k}; it was for {there}")
        row = self.choices[k]
        return None if row is None else self.solutions[row]

    def aim(self, solution: Solution) -> float:
        """What the search minimized: its first objective that is not k."""
        name = next(name for name in self.objectives if name != "k")
        return float(solution.scores[name] or 0)

    def shortfall(self) -> str:
        """What is missing to the required privacy, in words.

        For a search without a feasible solution: how close it came, and what may help.
        """
        if self.solution is not None:
            if self.solution.feasible is False:  # taken from a walk, and its marked rows fail
                return " ".join(self.solution.shortfalls(self.required_k))
            return "Nothing is missing: the chosen solution holds what the policy requires."
        feasible = [each for each in self.solutions if each.feasible is not False]
        if feasible:
            held = counted(len(feasible), "solution")
            verb = "reaches" if len(feasible) == 1 else "reach"
            return f"{held} {verb} the required privacy, and none was chosen."
        closest = min(self.solutions, key=self._missing, default=None)
        if closest is None:
            return "No solution was found."
        rows, people = self.source["rows"], self.source["people"]
        held = counted(rows, "row")
        if rows != people:
            held = f"{held} of {counted(people, 'person')}"
        failed = [str(each) for each in closest.models if not each.holds]
        reached = closest.scores["k"] or 0
        if failed and reached < self.required_k:
            failed.insert(0, f"k = {self.required_k} does not hold: reached {reached}")
        also = f" In the closest, {'; '.join(failed)}." if failed else ""
        return (
            f"No solution reaches the required privacy. The closest has k = {closest.scores['k']} "
            f"with NWP {closest.scores['nwp']:.4f}, in a source of {held}; the policy requires "
            f"{', '.join([f'k = {self.required_k}', *self.required])}.{also} {self._help(closest)}"
        )

    def _help(self, closest: Solution) -> str:
        """What may help; where nothing does but other requirements, that alone."""
        rows, people = self.source["rows"], self.source["people"]
        never = [f"No release can satisfy {'; '.join(self.unreachable)}. Require less."]
        never = never if self.unreachable else []
        if people < self.required_k:
            who = "rows" if rows == people else "people"
            never.insert(
                0,
                (
                    f"There are fewer {who} than k = {self.required_k}, so nothing can reach it: "
                    f"choose a smaller privacy.k, or a source with more {who}."
                ),
            )
        if never:
            return " ".join(never)
        # With all columns in one group the table is one class, so a limit keeps it from that.
        limited = [c for c in closest.scheme.columns if c.coarsest.cuts]
        advice = "" if self.stopped == "finished" else "search longer, "
        for c in limited:
            advice += f"a higher max_level of column {c.name!r} ({c.max_level} of {c.height}), "
        weaker = "a smaller k" if not self.required else "weaker requirements"
        return f"What may help: {advice}{weaker}, or a higher suppression limit."

    def _missing(self, solution: Solution) -> tuple[float, float]:
        """What is missing to the requirements at worst, and to k."""
        to_k = float(self.required_k - (solution.scores["k"] or 0))
        return max(to_k, solution.shortfall), to_k

    def to_dict(self) -> dict[str, Any]:
        """The document of a result file."""
        columns = self.solutions[0].scheme.columns if self.solutions else ()
        return {
            "version": VERSION,
            "policy": self.policy,
            "policy_parts": dict(self.policy_parts),
            "method": self.method,
            "objectives": list(self.objectives),
            "seed": self.seed,
            "source": self.source,
            "evaluations": self.evaluations,
            "seconds": round(self.seconds, 3),
            "stopped": self.stopped,
            "reproducible": self.reproducible,
            "notes": list(self.notes),
            "domains": observed_domains(columns),
            "solutions": [solution.to_dict() for solution in self.solutions],
            "chosen": self.chosen,
            "choices": [{"k": k, "solution": row} for k, row in self.choices.items()],
        }

    def write(self, path: str | Path) -> None:
        """Writes result.json; a file that is no result of a search is never replaced."""
        refuse_to_replace(Path(path), RESULT, otherwise="give another path")
        try:
            write_document(self.to_dict(), path)
        except SchemeError as error:
            raise SearchError(str(error)) from None

    def to_pandas(self) -> pd.DataFrame:
        """The scores, one row a solution, the chosen one marked."""
        frame = pd.DataFrame([dict(s.scores) | {"feasible": s.feasible} for s in self.solutions])
        frame["chosen"] = [i == self.chosen for i in range(len(frame))]
        return frame

    def __repr__(self) -> str:
        chosen = "none" if self.chosen is None else f"number {self.chosen}"
        found = counted(len(self.solutions), "solution")
        return f"<SearchResult of {self.method}: {found}, {chosen} chosen, {self.stopped}>"

    def __str__(self) -> str:
        head = " ".join(f"{name:>10}" for name in COLUMNS)
        lines = [f"{self.method}: {counted(len(self.solutions), 'solution')}", f"    # {head}"]
        for i, solution in enumerate(self.solutions):
            values = [solution.scores.get(name) for name in COLUMNS]
            cells = ["–" if value is None else format_score(value) for value in values]
            mark = "*" if i in self.choices.values() else " "
            lines.append(f"{mark} {i:>3} " + " ".join(f"{cell:>10}" for cell in cells))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = [name for name in COLUMNS if name in self.to_pandas()]
        return str(self.to_pandas()[[*names, "feasible", "chosen"]].to_html())
