"""A scheme with its scores, as people and programs read it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sqlanon.api.kept import Kept, warnings_of
from sqlanon.api.reached import Reached
from sqlanon.api.writing import Writing, Writings
from sqlanon.metrics import FURTHER, MEANINGS
from sqlanon.scheme import Scheme, to_document
from sqlanon.scheme.labels import in_quotes

BETWEEN, MORE = " · ", "…"
"""What stands between labels on a screen, and for those that are not shown."""

DESCRIPTIONS = {
    "k": "people in the smallest class",
    "k_max": "people in the largest class",
    "classes": "classes",
    "suppressed": "rows left out",
    "nwp": "normalized weighted penalty: information lost, 0 to 1",
    "necd": "class dispersion: privacy bias, 0 to 1",
    "ach": "achievement of the preference; smaller is better",
    "pref_dev": "deviation from the preference; negative is better",
    "glm": "general loss metric",
    "glm_share": "general loss metric, as a share of its maximum",
    "dcn": "discernibility",
    "ce": "classification error",
    **{name.value: f"{MEANINGS[name]}, 0 to 1" for name in FURTHER},
}
IN_SHORT = ("k", "suppressed", "nwp", "necd")
"""The scores that a solution's repr shows."""


@dataclass(frozen=True, repr=False)
class Solution:
    """A scheme and what it measures to; `feasible` is None when nothing is required.

    `models` tell what it reaches of what is required beyond k. `writings` say how a release of
    it writes the columns; others have plain labels. `marked_hold` tells of a solution that holds
    otherwise whether its marked rows do; None where there are none. `kept` says what a release
    keeps of each column: the groups that occur in it, the largest of them, and the loss.
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
        if name in DESCRIPTIONS:
            return self.scores.get(name)
        raise AttributeError(name)

    def labels(self, name: str) -> tuple[str | None, ...]:
        """How the release writes the groups of a column; None is NULL."""
        writing = self.writings.get(name, Writing())
        column = next(c for c in self.released.columns if c.name == name)
        return writing.labels(column, self.released[name])

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
        shown = ("columns", "required_k", *(["domains"] if self.scheme.given is not None else []))
        scheme = {key: document[key] for key in shown if key in document}
        scores = {name: self.scores[name] for name in DESCRIPTIONS if name in self.scores}
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
            f"{name:<11} {format_score(value):>12}  {DESCRIPTIONS[name]}"
            for name, value in self._shown()
        ]
        return "\n".join([*lines, *map(str, self.models), *self._groups(), *self.warnings])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td>{format_score(value)}</td><td>{DESCRIPTIONS[name]}</td></tr>"
            for name, value in self._shown()
        )
        below = [*map(str, self.models), *self._groups(), *self.warnings]
        groups = "".join(f"<li>{html.escape(line)}</li>" for line in below)
        return f"<table>{rows}</table><ul>{groups}</ul>"

    def _shown(self) -> list[tuple[str, int | float]]:
        named = [(name, self.scores.get(name)) for name in DESCRIPTIONS]
        return [(name, value) for name, value in named if value is not None]

    def _groups(self) -> list[str]:
        lines = []
        for kept in self.kept:
            shown = format_labels(self.released_labels(kept.column), 8)
            name = format_label(kept.column)
            figures = f"largest {kept.largest:.1%}, lost {kept.loss:.1%}"
            lines.append(f"{name}: {kept.groups} of {kept.values} groups ({figures}): {shown}")
        return lines


def format_label(label: str | None) -> str:
    """A label as one line of text: what would move a terminal's cursor is spelled out."""
    if label is None:
        return "NULL"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in label)


def format_labels(
    labels: Sequence[str | None], most: int, between: str = BETWEEN, more: str = MORE
) -> str:
    """The first labels of a column in a line, so that each can be told from the others.

    A text that is empty, or has blanks around it, or looks like a NULL, a quoted text or several
    labels, stands in quotes as in the label of a set.
    """

    def shown(label: str | None) -> str:
        text = format_label(label)
        plain = text and text == text.strip() and text not in ("NULL", more)
        plain = plain and between.strip() not in text and not text.startswith('"')
        return text if plain or label is None else in_quotes(text)

    return between.join([*map(shown, labels[:most]), *[more] * (len(labels) > most)])


def format_score(value: int | float) -> str:
    """A score as tables print it."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"
