"""What the classes of a table tell about one sensitive column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sqlanon.privacy import DIGITS, AuditedColumn, Figure, figures

WHERE_NO_CLASS_IS = {"share": 0.0}
"""Figures of a table without a class, by unit; the others are as bad as can be."""


@dataclass(frozen=True)
class Sensitive:
    """The worst class of a column in every respect that a model declares (see `Figure`).

    A figure is an attribute: `largest_share`, `fewest_values`, `entropy_l`, `recursive_c` (for
    l = 2), `t_equal`, `t_ordered`, `t_hierarchical`, `beta` and `delta`. NULL is a value. A figure
    is None where values have no order, or no hierarchy. What is infinite has no bound: a class
    with one value, or without one of the reference's.
    """

    column: str
    figures: Mapping[str, float | None]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.figures[name]
        except KeyError:
            raise AttributeError(name) from None

    def add_to(self, document: dict[str, Any]) -> None:
        """Writes the figures into the JSON of a check, which has no infinity."""
        for figure in figures(self.column):
            for *path, last in figure.places:
                section = document
                for step in path:
                    section = section.setdefault(step.format(column=self.column), {})
                section[last.format(column=self.column)] = finite(self.figures[figure.name])

    def described(self) -> list[tuple[str, str, str]]:
        """What to show a person: name, figure or "" where there is none, meaning."""
        return [
            (each.title, _shown(self.figures[each.name], each.unit), each.meaning)
            for each in figures(self.column)
        ]


def sensitive_figures(column: str, counted: AuditedColumn) -> Sensitive:
    """The figures of one column."""
    return Sensitive(column, {each.name: _worst(each, counted) for each in figures(column)})


def _worst(figure: Figure, counted: AuditedColumn) -> float | None:
    model = figure.model
    if model.needs_order and not counted.is_ordered:
        return None
    if model.needs_hierarchy and counted.hierarchy is None:
        return None
    if not counted.rows.size:
        return WHERE_NO_CLASS_IS.get(figure.unit, model.worst())
    reached = model.audited(counted)
    worst = float(np.min(reached) if model.at_least else np.max(reached))
    if figure.unit == "number":
        return settled(worst)
    return int(worst) if figure.unit == "count" else worst


def settled(value: float) -> float:
    """Rounded for reports; the digits behind depend on the order of a sum."""
    return round(value, DIGITS) + 0.0


def finite(value: float | None) -> float | None:
    """For JSON, which has no infinity."""
    return None if value is None or math.isinf(value) else value


def _shown(value: float | None, unit: str) -> str:
    """For people."""
    if value is None:
        return ""
    if unit == "share":
        return f"{value:.2%}"
    return (
        "unbounded" if math.isinf(value) else f"{value:,.4g}" if unit == "number" else f"{value:,}"
    )
