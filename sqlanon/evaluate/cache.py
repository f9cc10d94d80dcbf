"""What an evaluator measured before, found by a dictionary in front of the workspace's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.domain import Batch
from sqlanon.evaluate.workspace import Basis, Stored, Workspace
from sqlanon.metrics import Detail, Measurement

MOST_BYTES = 2**27
"""About so much memory the dictionary may take; then its older half is forgotten.

A search seldom asks for a scheme again that it left long ago. The oldest go first, whenever they
were last asked for: the measurements of a query share their arrays, and only together do they
make room.
"""

LOOKUPS, MOST_READ = 10, 50_000
"""After so many lookups in a file all of its measurements are read, unless they are more."""


class Cache:
    """The measurements of one histogram, label and demands.

    Those in the tables of the workspace are asked for where a file had some before. What this
    process measured is in the dictionary.
    """

    def __init__(self, basis: Basis, workspace: Workspace) -> None:
        self._basis = basis
        self._workspace = workspace
        self._by_key: dict[bytes, Stored] = {}
        self._bytes = 0
        self._in_file = workspace.count(basis)
        self._lookups = 0
        self._read: dict[bytes, list[Stored]] | None = None
        self._run: int | None = None
        self._number = 0
        self._recalled: set[bytes] = set()

    @property
    def run(self) -> int | None:
        """The run that measurements are made for; None before the first."""
        return self._run

    def begin(self, account: Mapping[str, Any]) -> None:
        """Begins a run; `account` has its columns in the table."""
        self._run = self._workspace.begin(self._basis, account)
        self._number = 0
        self._recalled.clear()

    def known(
        self, batch: Batch, rows: Mapping[bytes, int], detail: Detail
    ) -> tuple[dict[bytes, Measurement], int]:
        """The measurements that are known in enough detail, of schemes given by key and row.

        Also how many of them the tables had, and no dictionary.
        """
        found = {key: self._by_key[key] for key in rows if key in self._by_key}
        found = {key: each for key, each in found.items() if each.measured.detail.covers(detail)}
        recalled = 0
        if self._in_file and len(found) < len(rows):
            names = {batch.packed(row): key for key, row in rows.items() if key not in found}
            for each in self._in_tables(list(names)):
                key = names[each.scheme]
                if each.measured.detail.covers(detail):
                    recalled += key not in found
                    found[key] = each
                    self._remember(key, each)
        for key, each in found.items():
            if each.run != self._run and key not in self._recalled:
                assert self._run is not None
                self._recalled.add(key)
                self._workspace.recall(self._run, each.run, each.number)
        return {key: each.measured for key, each in found.items()}, recalled

    def _in_tables(self, schemes: list[bytes]) -> list[Stored]:
        """What the file had of some schemes; one may have several measurements.

        A search looks up a few schemes at a time: then it is faster to read all of them once.
        """
        self._lookups += 1
        if self._read is None and self._lookups > LOOKUPS and self._in_file <= MOST_READ:
            self._read = {}
            for each in self._workspace.read(self._basis):
                self._read.setdefault(each.scheme, []).append(each)
        if self._read is None:
            return self._workspace.find(self._basis, schemes)
        return [each for scheme in schemes for each in self._read.get(scheme, ())]

    def put(self, batch: Batch, row: int, measured: Measurement) -> None:
        assert self._run is not None
        self._number += 1
        stored = Stored(self._run, self._number, batch.packed(row), measured)
        self._remember(batch.keys[row], stored)
        self._workspace.put(stored)

    def _remember(self, key: bytes, stored: Stored) -> None:
        """Keeps a measurement in memory; what is forgotten for it would be measured again."""
        known = self._by_key.pop(key, None)
        self._by_key[key] = stored
        self._bytes += stored.nbytes - (0 if known is None else known.nbytes)
        if self._bytes > MOST_BYTES:
            for old in list(self._by_key)[: len(self._by_key) // 2]:
                del self._by_key[old]
                self._recalled.discard(old)
            self._bytes = sum(kept.nbytes for kept in self._by_key.values())
