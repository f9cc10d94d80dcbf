"""The values behind an audit, for those who ask for them expressly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.engines import Source
from sqlanon.verify.audit import Auditor
from sqlanon.verify.values import column

LIMIT = 10
"""Classes and rows that are shown."""


@dataclass(frozen=True)
class ListedClass:
    """A class with the text of its values, None for NULL."""

    values: dict[str, str | None]
    rows: int
    people: int


@dataclass(frozen=True)
class Listing:
    """The smallest classes of a table, and some of their rows with all columns.

    This is the only part of an audit that holds values of the table.
    """

    classes: tuple[ListedClass, ...]
    samples: tuple[dict[str, str | None], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "smallest": [
                {"rows": each.rows, "people": each.people, "values": each.values}
                for each in self.classes
            ],
            "samples": list(self.samples),
        }


def smallest_classes(
    source: Source, quasi: Sequence[str], *, subject: str | None = None, limit: int = LIMIT
) -> Listing:
    """The smallest classes, and up to as many rows of them; the order is always the same."""
    auditor = Auditor(source, quasi, subject)
    names = [info.name for info in source.columns]
    classes = auditor.fetch("smallest.sql", limit=limit)
    columns = [column(name) for name in names]
    samples = auditor.fetch("samples.sql", columns=columns, limit=limit)
    return Listing(
        tuple(
            ListedClass(
                {name: each[f"t{j}"] for j, name in enumerate(auditor.names)},
                each["n_rows"],
                each["n_people"],
            )
            for each in classes
        ),
        tuple({name: each[f"t{j}"] for j, name in enumerate(names)} for each in samples),
    )
