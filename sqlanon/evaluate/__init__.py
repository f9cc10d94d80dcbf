"""Scoring schemes: batches become GROUP BY queries on the histogram."""

from sqlanon.evaluate.evaluator import Effort, Evaluator

__all__ = ["Effort", "Evaluator"]
