"""Scores of generalizations: information loss and bias, derived from raw integers."""

from sqlanon.metrics.measures import FURTHER, MEANINGS, scaled
from sqlanon.metrics.release import Released, release
from sqlanon.metrics.scores import Scores, score

__all__ = ["FURTHER", "MEANINGS", "Released", "Scores", "release", "scaled", "score"]
