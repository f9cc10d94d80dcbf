"""What the classes of a table tell about one sensitive column."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sqlanon.privacy import DIGITS, Measure, Statistic
from sqlanon.verify.measures import measure
from sqlanon.verify.profile import Profile


@dataclass(frozen=True)
class Sensitive:
    """The worst class in every respect (see privacy.Measure for the formulas); NULL is a value.

    largest_share    the greatest share of one class that has the same value: what someone who
                     finds a person's class learns with this probability
    fewest_values    the number of distinct values in the class that has the fewest
    entropy_l        the least exp(entropy)
    recursive_c      r_1 / (r_2 + … + r_m): recursive (c, 2)-diversity holds for every c above
    t_equal, t_ordered, t_hierarchical
                     the greatest distance from the reference; None where values have no order,
                     or no hierarchy
    beta             the greatest (p − q) / q
    delta            the greatest |ln (p / q)|

    What is infinite has no bound: a class with one value, or without one of the reference's.
    Where there is no class, everything is as bad as it can be, but for the share, which is 0.
    """

    column: str
    largest_share: float
    fewest_values: int
    entropy_l: float = 0.0
    recursive_c: float = math.inf
    t_equal: float = math.inf
    t_ordered: float | None = None
    t_hierarchical: float | None = None
    beta: float = math.inf
    delta: float = math.inf

    def to_dict(self) -> dict[str, float | int]:
        return {"largest_share": self.largest_share, "fewest_values": self.fewest_values}

    @property
    def diversity(self) -> dict[str, float | None]:
        """The three readings of l-diversity, for JSON."""
        return {
            "distinct": self.fewest_values,
            "entropy": self.entropy_l,
            "recursive_c": finite(self.recursive_c),
        }

    @property
    def closeness(self) -> dict[str, float | None]:
        """t by every distance, for JSON."""
        return {
            "equal": finite(self.t_equal),
            "ordered": finite(self.t_ordered),
            "hierarchical": finite(self.t_hierarchical),
        }

    def described(self) -> list[tuple[str, str, str]]:
        """What to show a person: name, figure or "" where there is none, meaning."""
        return [
            ("distinct l", f"{self.fewest_values:,}", "different values"),
            ("entropy l", number(self.entropy_l), "exp(entropy)"),
            ("recursive c", number(self.recursive_c), "r1 / (r2 + r3 + ...)"),
            ("largest share", f"{self.largest_share:.2%}", "have the same value"),
            ("t, equal", number(self.t_equal), "distance from all"),
            ("t, ordered", number(self.t_ordered), "by order"),
            ("t, hierarchical", number(self.t_hierarchical), "by the hierarchy"),
            ("beta", number(self.beta), "(p - q) / q"),
            ("delta", number(self.delta), "|ln(p / q)|"),
        ]


def sensitive_figures(profile: Profile) -> Sensitive:
    """The figures of one column."""
    if not profile.rows.size:
        return Sensitive(
            profile.column,
            0.0,
            0,
            t_ordered=math.inf if profile.is_ordered else None,
            t_hierarchical=None if profile.hierarchy is None else math.inf,
        )

    def each(kind: Measure, top: int = 0) -> np.ndarray:
        return measure(profile, Statistic(kind, profile.column, top))

    def most(kind: Measure, top: int = 0) -> float:
        return settled(float(each(kind, top).max()))

    return Sensitive(
        profile.column,
        float(each(Measure.SHARE).max()),
        int(each(Measure.DISTINCT).min()),
        settled(float(each(Measure.PERPLEXITY).min())),
        most(Measure.RECURSIVE, 2),
        most(Measure.EQUAL_DISTANCE),
        most(Measure.ORDERED_DISTANCE) if profile.is_ordered else None,
        most(Measure.HIERARCHICAL_DISTANCE) if profile.hierarchy is not None else None,
        most(Measure.GAIN),
        most(Measure.RATIO),
    )


def settled(value: float) -> float:
    """Rounded for reports; the digits behind depend on the order of a sum."""
    return round(value, DIGITS) + 0.0


def finite(value: float | None) -> float | None:
    """For JSON, which has no infinity."""
    return None if value is None or math.isinf(value) else value


def number(value: float | None) -> str:
    """For people."""
    if value is None:
        return ""
    return "unbounded" if math.isinf(value) else f"{value:,.4g}"
