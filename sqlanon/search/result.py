"""The result of a search: its solutions, how they print, and result.json."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.documents import RESULT_FORMAT
from sqlanon.domain import (
    VERSION,
    Recoding,
    Scheme,
    Writing,
    Writings,
    format_label,
    format_labels,
    observed_domains,
    to_document,
    write_document,
)
from sqlanon.errors import SchemeError, SearchError
from sqlanon.files import RESULT, refuse_to_replace
from sqlanon.metrics import METRICS, Ints
from sqlanon.privacy import Reached
from sqlanon.search.outcome import UNREPEATABLE
from sqlanon.wording import counted

if TYPE_CHECKING:
    import pandas as pd

DESCRIBED = {
    "k": "people in the smallest class",
    "k_max": "people in the largest class",
    "classes": "classes",
    "suppressed": "rows left out",
    **METRICS["nwp"].described(),
    **METRICS["necd"].described(),
    "ach": "achievement of the preference; smaller is better",
    "pref_dev": "deviation from the preference; negative is better",
}


def descriptions() -> dict[str, str]:
    """Describes the scores of a solution, in the order in which they are shown."""
    return DESCRIBED | {k: v for m in METRICS.values() for k, v in m.described().items()}


LITTLE_IS_KEPT = 0.8
"""A column with a larger share of its rows in one group tells little."""
IN_SHORT = ("k", "suppressed", "nwp", "necd")
"""The scores that a solution's repr shows."""


@dataclass(frozen=True)
class Kept:
    """A generalized column in a release.

    groups    how many of its groups have released rows
    values    how many atoms its domain has
    largest   the share of the released rows that are in the largest group, 0 to 1
    loss      the share of it that is lost over all rows, 0 to 1; a row that is left out loses all
    rows      the released rows of each group of the scheme, in their order; none where unknown
    """

    column: str
    groups: int
    values: int
    largest: float
    loss: float
    rows: tuple[int, ...] = field(default=(), repr=False)

    @property
    def is_little(self) -> bool:
        """Whether so many rows are in one group that the column tells little."""
        return self.largest > LITTLE_IS_KEPT

    def to_dict(self) -> dict[str, Any]:
        """As in result.json."""
        return {
            "groups": self.groups,
            "values": self.values,
            "largest": round(self.largest, 6),
            "loss": round(self.loss, 6),
        }

    @classmethod
    def from_dict(cls, column: str, document: Any, origin: str) -> Kept:
        """A column of a result file."""
        try:
            groups, values = (int(document[name]) for name in ("groups", "values"))
            largest, loss = (float(document[name]) for name in ("largest", "loss"))
            return cls(column, groups, values, largest, loss)
        except (KeyError, TypeError, ValueError):
            raise SchemeError(
                f"{origin}: is damaged: kept of column {column!r} is {document!r}; search again"
            ) from None


def kept_of(scheme: Scheme, released: Sequence[Ints], rows: int) -> tuple[Kept, ...]:
    """What a scheme keeps of its columns, from the released rows of every group of `rows`."""
    return tuple(
        _kept(column.name, column.size, runs, by_group, rows)
        for column, runs, by_group in zip(scheme.columns, scheme.groups, released, strict=True)
    )


def _kept(name: str, size: int, runs: Sequence[tuple[int, int]], by_group: Ints, rows: int) -> Kept:
    released, most = int(by_group.sum()), size - 1
    lost = float(rows - released)
    if most:
        steps = np.array([stop - start - 1 for start, stop in runs])
        lost += int(by_group @ steps) / most
    return Kept(
        column=name,
        groups=int((by_group > 0).sum()),
        values=size,
        largest=int(by_group.max()) / released if released else 0.0,
        loss=lost / rows if rows else 0.0,
        rows=tuple(by_group.tolist()),
    )


def read_kept(solution: Mapping[str, Any], origin: str) -> tuple[Kept, ...]:
    """What a solution of a result file keeps; nothing where an earlier version wrote it."""
    kept = solution.get("kept", {})
    if not isinstance(kept, Mapping):
        raise SchemeError(f"{origin}: is damaged: kept is {kept!r}; search again")
    return tuple(Kept.from_dict(name, each, origin) for name, each in kept.items())


def warnings_of(kept: Sequence[Kept]) -> list[str]:
    """A sentence about the columns of which little is left; none where that holds for none."""
    little = [each for each in kept if each.is_little]
    said = [
        f"{each.column} (hidden)"
        if each.groups <= 1
        else f"{each.column} ({each.largest:.1%} of the rows are in one group)"
        for each in little
    ]
    return [f"Little is left of {', '.join(said)}."] if said else []


@dataclass(frozen=True, repr=False)
class Solution:
    """A scheme and what it measures to; `feasible` is None when nothing is required.

    `models` tell what it reaches of what is required beyond k. `writings` say how a release of
    it writes the columns; others have plain labels. `marked_hold` says whether the marked rows of
    a solution that holds otherwise do too; None for a solution that marks no rows. `kept` says
    what a release keeps of each column: the groups that occur in it, the largest of them, and the
    loss.
    """

    scheme: Scheme
    scores: Mapping[str, int | float | None]
    feasible: bool | None
    models: tuple[Reached, ...] = ()
    writings: Writings = field(default_factory=dict)
    marked_hold: bool | None = None
    kept: tuple[Kept, ...] = ()

    def __getattr__(self, name: str) -> int | float | None:
        """Scores read as attributes: solution.k, solution.nwp."""
        if name in descriptions():
            return self.scores.get(name)
        raise AttributeError(name)

    def labels(self, name: str) -> tuple[str | None, ...]:
        """How the release writes the groups of a column; None is NULL."""
        writing = self.writings.get(name, Writing())
        return writing.labels(*self.released.by_name[name])

    def released_labels(self, name: str) -> tuple[str | None, ...]:
        """As `labels`, of the groups that occur in the release.

        Of a scheme over other values than those of the data, all that it has.
        """
        labels = self.labels(name)
        rows = next((each.rows for each in self.kept if each.column == name), ())
        if self.scheme.given is not None or len(rows) != len(labels):
            return labels
        return tuple(label for label, n in zip(labels, rows, strict=True) if n)

    @property
    def warnings(self) -> list[str]:
        """What to say of columns of which little is left."""
        return warnings_of(self.kept)

    @property
    def shortfall(self) -> float:
        """What is missing to the models beyond k at worst, each on its own scale."""
        missing = [each.model.shortfall(np.array([each.value]))[0] for each in self.models]
        return float(max(missing, default=0.0))

    def shortfalls(self, k: int) -> tuple[str, ...]:
        """Which requirements the solution does not hold, k people and models, a sentence each."""
        reached = self.scores["k"] or 0
        short = [f"The scheme reaches k = {reached}; the policy requires {k}."] * (reached < k)
        own = self.scheme.required_k or 0
        if own > k and reached < own:
            short = [f"The scheme reaches k = {reached}; it was found for {own} (required_k)."]
        failed = [f"The scheme falls short: {each}." for each in self.models if not each.holds]
        marked = "The rows that it marks are too few or too alike to be a class of the release."
        return (*short, *failed, *([marked] if self.marked_hold is False else []))

    @property
    def released(self) -> Scheme:
        """The scheme that a release is made of: a file's over the values that the file lists."""
        return self.scheme.given or self.scheme

    def to_dict(self) -> dict[str, Any]:
        """As in result.json: the columns of a scheme file, then the scores."""
        document = to_document(self.released)
        # Elsewhere they are in the result, or those of the data.
        tree = [] if self.scheme.tree is None else ["tree", "boxes", "nulls"]
        shown = (
            *tree,
            "columns",
            "required_k",
            *(["domains"] if self.scheme.given is not None else []),
        )
        scheme = {key: document[key] for key in shown if key in document}
        scores = {name: self.scores[name] for name in descriptions() if name in self.scores}
        models = {"models": [each.to_dict() for each in self.models]} if self.models else {}
        kept = {each.column: each.to_dict() for each in self.kept}
        return {**scheme, **scores, **models, "kept": kept, "feasible": self.feasible}

    def __repr__(self) -> str:
        shown = [
            f"{name} {format_score(value)}" for name, value in self._shown() if name in IN_SHORT
        ]
        verdict = {True: ", feasible", False: ", falls short", None: ""}[self.feasible]
        return f"<Solution: {', '.join(shown)}{verdict}; {self.scheme!r}>"

    def __str__(self) -> str:
        lines = [
            f"{name:<11} {format_score(value):>12}  {descriptions()[name]}"
            for name, value in self._shown()
        ]
        return "\n".join([*lines, *map(str, self.models), *self._groups(), *self.warnings])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td>{format_score(value)}</td><td>{descriptions()[name]}</td></tr>"
            for name, value in self._shown()
        )
        below = [*map(str, self.models), *self._groups(), *self.warnings]
        groups = "".join(f"<li>{html.escape(line)}</li>" for line in below)
        return f"<table>{rows}</table><ul>{groups}</ul>"

    def _shown(self) -> list[tuple[str, int | float]]:
        named = [(name, self.scores.get(name)) for name in descriptions()]
        return [(name, value) for name, value in named if value is not None]

    def _groups(self) -> list[str]:
        lines = []
        for kept in self.kept:
            shown = format_labels(self.released_labels(kept.column), 8)
            name = format_label(kept.column)
            figures = f"largest {kept.largest:.1%}, lost {kept.loss:.1%}"
            lines.append(f"{name}: {kept.groups} of {kept.values} groups ({figures}): {shown}")
        return lines


def format_score(value: int | float) -> str:
    """A score as tables print it."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"


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
    notes: tuple[str, ...]
    policy: str
    source: dict[str, Any]
    required_k: int
    required: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    policy_parts: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[int, int | None] = field(default_factory=dict)

    @property
    def reproducible(self) -> bool:
        """Whether the same seed brings about the same result: no clock, no Ctrl-C ended it."""
        return self.stopped not in UNREPEATABLE

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
        """Explains what is missing to the required privacy.

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

    @property
    def _recoding(self) -> Recoding:
        trees = [each for each in self.solutions if each.scheme.tree is not None]
        return Recoding.MULTIDIMENSIONAL if trees else Recoding.GLOBAL

    def to_dict(self) -> dict[str, Any]:
        """The document of a result file."""
        columns = self.solutions[0].scheme.columns if self.solutions else ()
        return {
            "format": RESULT_FORMAT,
            "version": VERSION,
            "recoding": str(self._recoding),
            "policy": self.policy,
            "policy_parts": dict(self.policy_parts),
            "method": self.method,
            "objectives": list(self.objectives),
            "seed": self.seed,
            "source": self.source,
            "required": {"k": self.required_k, "models": list(self.required)},
            "unreachable": list(self.unreachable),
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
        import pandas as pd

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
