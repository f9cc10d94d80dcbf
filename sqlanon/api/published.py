"""A published release, as people and programs read it."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from sqlanon.certificate import Certificate
from sqlanon.model import brief_list, counted
from sqlanon.publish import Published


@dataclass(frozen=True, repr=False)
class Release:
    """What `publish` made, and the certificate that goes with it.

    `files` are those of the certificate, empty where none were written: for a policy that is
    no file, and inside a transaction of the caller, who calls `write_certificate` after its
    commit.
    """

    published: Published
    certificate: Certificate
    files: tuple[Path, ...]
    _read: Callable[[], pa.Table] = field(compare=False)
    _write: Callable[[Path], tuple[Path, ...]] = field(compare=False)
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The name of the released table or view, or the path of the file."""
        return self.published.target

    @property
    def rows(self) -> int:
        """Rows of the release."""
        return self.published.rows

    @property
    def left_out(self) -> int:
        """Rows of the source that the release does not hold."""
        return self.published.left_out

    @property
    def k(self) -> int:
        """People in its smallest class, counted on the release itself."""
        return self.published.k

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the verification wants to be known, what became of a replaced table, and what a
        killed run had left."""
        return (*self.published.verification.warnings, *self.published.lost, *self.notes)

    @property
    def remains(self) -> tuple[str, ...]:
        """Where former rows can still be read."""
        return self.published.remains

    def write_certificate(self, folder: str | Path) -> tuple[Path, ...]:
        """Writes the certificate's files into a folder, and answers with their paths.

        They replace those of the former release of the same target, which becomes the first
        of its prior releases. After a publish inside your own transaction call it once that
        is committed.
        """
        return self._write(Path(folder))

    def to_arrow(self) -> pa.Table:
        """The released rows."""
        return self._read()

    def to_pandas(self) -> pd.DataFrame:
        """The released rows."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what was published, and the internal certificate."""
        return {
            "target": self.target,
            "mode": str(self.published.mode),
            "rows": self.rows,
            "left_out": self.left_out,
            "k": self.k,
            "hash": self.published.table_hash,
            "files": [str(path) for path in self.files],
            "warnings": list(self.warnings),
            "remains": list(self.remains),
            "removed": list(self.published.removed),
            "certificate": self.certificate.to_dict(),
        }

    def __repr__(self) -> str:
        target, rows = brief_list([self.target], width=100), counted(self.rows, "row")
        return f"<Release {target}: {rows}, {self.left_out:,} left out, k = {self.k}>"

    def __str__(self) -> str:
        lines = [self.certificate.document.words.summary]
        lines.append(f"{counted(self.rows, 'row')} in {self.target}, {self.left_out:,} left out")
        lines += [f"note: {warning}" for warning in self.warnings]
        lines += [f"remains: {text}" for text in self.remains]
        lines += [f"wrote {path}" for path in self.files]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return "<br>".join(html.escape(line) for line in str(self).splitlines())
