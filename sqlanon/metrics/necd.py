"""NECD, the normalized equivalence class dispersion."""

from __future__ import annotations

from sqlanon.metrics.measurement import Floats
from sqlanon.metrics.metric import Metric, ReleaseCounts
from sqlanon.metrics.suppression import Remaining


class Necd(Metric):
    """(largest class − smallest class) / (people − 1); 0 for a table of one person."""

    key, kind, title, always = "necd", "bias", "NECD", True
    meaning = "class dispersion: privacy bias"
    citation = "Dewri, Ray, Ray and Whitley, GECCO 2009"
    in_sql = "(k_max - k) / greatest(people - 1, 1)"

    def of(self, left: Remaining) -> Floats:
        return (left.k_max - left.k) / max(self.histogram.people - 1, 1)

    @classmethod
    def recounted(cls, counts: ReleaseCounts) -> dict[str, int | float]:
        return {"necd": (counts.largest - counts.smallest) / max(counts.source_people - 1, 1)}
