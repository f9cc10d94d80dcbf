"""NECD, the normalized equivalence class dispersion."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain import Column
from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric, ReleaseCounts, formula
from sqlanon.metrics.suppression import Remaining


class Necd(Metric):
    """(largest class − smallest class) / (people − 1); 0 for a table of one person."""

    key, kind, title, always = "necd", "bias", "NECD", True
    meaning = "class dispersion: privacy bias"
    citation = "Dewri, Ray, Ray and Whitley, GECCO 2009"
    evaluation_sql = "(k_max - k) / greatest(people - 1, 1)"

    def of(self, left: Remaining) -> Floats:
        return (left.k_max - left.k) / max(self.histogram.people - 1, 1)

    @classmethod
    def measure_sql(cls, shares: Sequence[tuple[Column, exp.Expr]]) -> dict[str, exp.Expr]:
        share = "CAST(k_max - k AS DOUBLE) / (source_people - 1)"
        return {"necd": formula(f"CASE WHEN source_people > 1 THEN {share} ELSE 0 END")}

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        return {"necd": (counts.largest - counts.smallest) / max(counts.source_people - 1, 1)}
