"""What the table `run` says of a search: how it is made, and what its schemes are scored with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlanon.domain import Histogram
from sqlanon.metrics import CostModel, Metric, Preference, Suppression
from sqlanon.privacy import Model

ATOMS = "atoms"
"""The cost that every scheme is measured by."""


@dataclass(frozen=True)
class Search:
    """A search as its run names it.

    `k` is searched for; a scheme is feasible from `required_k` on, None where no privacy is
    required.
    """

    method: str
    seed: int
    settings: Mapping[str, Any]
    k: int
    required_k: int | None
    preference: Preference | None


def account_of(
    search: Search | None,
    rule: Suppression,
    histogram: Histogram,
    label: str | None,
    asked: Sequence[Metric],
    costs: CostModel,
    models: Sequence[Model],
) -> dict[str, Any]:
    """The columns of `run` that are known before it begins; without a search, the scores' alone."""
    columns = histogram.space.columns
    whole = sum(column.weight for column in columns)
    further = [metric for metric in asked if metric.cost is not None]
    wholes = [column.size - 1 for column in columns]
    tuples = math.prod(column.size for column in columns)
    account: dict[str, Any] = {
        "below": rule.below,
        "budget": rule.budget,
        "source_rows": histogram.rows,
        "people": histogram.people,
        "columns": [column.name for column in columns],
        "positions": [column.positions for column in columns],
        "weights": [column.weight / whole for column in columns],
        "costs": [ATOMS, *(metric.key for metric in further)],
        "wholes": [*wholes, *(each for metric in further for each in metric.wholes)],
        "tuples": float(tuples) if costs.tuples else None,
        "asked_for": [metric.key for metric in asked],
        "models": [" ".join(filter(None, (model.key, model.column))) for model in models],
        "limits": [model.limit for model in models],
        "at_least": [model.at_least for model in models],
        "strict": [model.strict for model in models],
    }
    if search is None:
        return account
    account |= {
        "method": search.method,
        "seed": search.seed,
        "settings": json.dumps(search.settings, default=str, sort_keys=True),
        "k": search.k,
        "required_k": search.required_k,
    }
    wish = search.preference
    if wish is not None:
        account |= {
            "loss_by": wish.loss_by,
            "bias_by": wish.bias_by,
            "preferred_loss": wish.loss,
            "preferred_bias": wish.bias,
            "loss_weight": wish.weight,
        }
    return account
