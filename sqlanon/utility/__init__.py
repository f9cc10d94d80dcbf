"""Assesses how useful a release is for counts, for the user's own queries, and for a model."""

from __future__ import annotations

from sqlanon.utility.assessment import Assessment, Utility
from sqlanon.utility.own_queries import parts_of
from sqlanon.utility.prediction import MODELS

__all__ = ["MODELS", "Assessment", "Utility", "parts_of"]
