"""Scores of problems that require nothing beyond k."""

from __future__ import annotations

from typing import Any

import numpy as np

from sqlanon.metrics import further
from sqlanon.metrics.scores import Scores
from sqlanon.metrics.suppression import UNBOUNDED

PAPERS = ["nwp", "glm", "dcn", "ce"]
"""The losses that every score has."""


def plain_scores(**arrays: Any) -> Scores:
    """The rest is what schemes have without models and further measures."""
    n = len(arrays["k"])
    return Scores(
        **arrays,
        violating=arrays["rows_below"],
        reached=np.zeros((n, 0)),
        k_most=np.full(n, UNBOUNDED),
        further=np.full((n, len(further())), np.nan),
    )
