"""What was found about a release's utility, as people and programs read it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sqlanon.utility.classify import Accuracy
from sqlanon.utility.queries import Answer, Number
from sqlanon.utility.workload import Workload

Table = list[tuple[str, ...]]
"""Lines of texts, the first one the titles."""


@dataclass(frozen=True, repr=False)
class Utility:
    """How much a release of a scheme is worth in use.

    rows      rows of the source
    released  rows of the release, those with the marker among them
    marked    rows of the release that hold the marker
    feasible  whether the policy would let the scheme be released; None where it asks for nothing
    shortfalls  what the scheme does not hold of the policy's requirements, a sentence each
    """

    rows: int
    released: int
    marked: int
    feasible: bool | None
    workload: Workload
    queries: tuple[Answer, ...] = ()
    accuracy: Accuracy | None = None
    notes: tuple[str, ...] = ()
    shortfalls: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """A document for JSON."""
        return {
            "rows": self.rows,
            "released": self.released,
            "marked": self.marked,
            "feasible": self.feasible,
            "workload": self.workload.to_dict(),
            "queries": [answer.to_dict() for answer in self.queries],
            "accuracy": None if self.accuracy is None else self.accuracy.to_dict(),
            "notes": list(self.notes),
        }

    def to_pandas(self) -> pd.DataFrame:
        """The random queries, one row each: their columns, count, estimate and relative error."""
        workload = self.workload
        return pd.DataFrame(
            {
                "columns": [", ".join(names) for names in workload.columns],
                "count": workload.counts,
                "estimate": workload.estimates,
                "relative_error": workload.errors,
            }
        )

    def tables(self) -> list[Table]:
        """What is shown: random queries, own queries, and accuracy, as far as there are any."""
        workload = self.workload
        asked = f"{workload.queries:,} random counts"
        found: list[Table] = [
            [
                (asked, "relative error"),
                ("median", format_share(workload.median)),
                ("95th percentile", format_share(workload.p95)),
                ("mean", format_share(workload.mean)),
            ]
        ]
        if self.queries:
            found.append([("query", "source", "release", "relative error"), *self._answers()])
        if self.accuracy is not None:
            found.append(_of_accuracy(self.accuracy))
        return found

    def _answers(self) -> list[tuple[str, ...]]:
        return [
            (a.sql, format_number(a.source), format_number(a.release),
             format_share(a.relative_error))
            for a in self.queries
        ]  # fmt: skip

    def summary(self) -> str:
        """How much of the source is released, in one line."""
        text = f"{self.released:,} of {self.rows:,} rows are released"
        return f"{text}, {self.marked:,} of them with the marker" if self.marked else text

    def __repr__(self) -> str:
        error = f"{self.workload.median:.1%} of a count in the median"
        return f"<Utility: {self.summary()}, error {error}>"

    def __str__(self) -> str:
        lines = []
        for table in self.tables():
            widths = [max(len(line[j]) for line in table) for j in range(len(table[0]))]
            for first, *others in table:
                rest = [f"{text:>{w}}" for text, w in zip(others, widths[1:], strict=True)]
                lines.append("  ".join([f"{first:<{widths[0]}}", *rest]))
            lines.append("")
        return "\n".join([*lines, self.summary(), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        parts = []
        for head, *lines in self.tables():
            titles = "".join(f"<th>{html.escape(text)}</th>" for text in head)
            rows = "".join(
                f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in line)}</tr>"
                for line in lines
            )
            parts.append(f"<table><tr>{titles}</tr>{rows}</table>")
        said = [self.summary(), *self.notes]
        return "".join([*parts, *(f"<p>{html.escape(text)}</p>" for text in said)])


def _of_accuracy(found: Accuracy) -> Table:
    return [
        (f"predicting {found.target}", "accuracy"),
        ("learned from the source", format_share(found.original)),
        ("learned from the release", format_share(found.released)),
        ("the most frequent value", format_share(found.baseline)),
    ]


def format_share(value: float | None) -> str:
    """A share or a relative error; – where there is none."""
    return "–" if value is None else f"{value:.2%}"


def format_number(value: Number | None) -> str:
    """A number as a query yields it."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4f}" if 1e-3 <= abs(value) < 1e15 or not value else f"{value:.6g}"
