"""What every class is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlanon.hierarchy import Hierarchy
from sqlanon.privacy import TOLERANCE, Model
from sqlanon.suppression import UNBOUNDED


@dataclass(frozen=True)
class Demands:
    """What every class is held against.

    models       beyond k; a class that violates one is bad
    below        classes of fewer people are bad too; UNBOUNDED: how many they are is no matter
    hierarchies  of sensitive columns, for distances by hierarchy
    """

    models: tuple[Model, ...] = ()
    below: int = UNBOUNDED
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Names what measurements depend on; empty without models."""
        if not self.models:
            return ""
        trees = sorted((name, tree.fingerprint) for name, tree in self.hierarchies.items())
        return f"{self.below} ±{TOLERANCE} {list(map(repr, self.models))} {trees}"
