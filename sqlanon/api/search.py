"""From a policy to a search: the method, its settings, and the suppression rule it works under."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.evaluate import Evaluator
from sqlanon.policy import SearchSection
from sqlanon.preference import Preference
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.exhaustive import exhaustive
from sqlanon.search.genitor import GenitorSettings, genitor
from sqlanon.search.lattice import LatticeSettings
from sqlanon.search.lattice_front import front
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.optimal import optimal
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.poka import PokaSettings, poka
from sqlanon.search.problem import Loss, Problem

DEFAULT_PREFERENCE = Preference(nwp=0.2, necd=1.0)
"""The papers' own point: little loss, any bias."""


@dataclass(frozen=True)
class Method:
    """A search, the class of its settings, and which of the two suppression rules it uses.

    A trade-off front has no k, so it suppresses up to the limit (POkA's η); a search for a
    given k suppresses classes below k only.
    """

    run: Callable[[Problem, Any, np.random.Generator, Watch], Outcome]
    settings: type[Any]
    given_k: bool
    default_loss: Loss

    def configure(self, section: SearchSection, name: str) -> Any:
        """The settings that a policy gives; a key of another method is a mistake."""
        known = {field.name for field in fields(self.settings)} - {"bounds"}
        given = {key: getattr(section, key) for key in section.model_fields_set - section.COMMON}
        for key in given:
            if key not in known:
                allowed = ", ".join(sorted(known)) or "none"
                raise PolicyError(f"search.{key}: is not a setting of {name}; it has: {allowed}")
        return self.settings(**given)


METHODS = {
    "auto": Method(auto, AutoSettings, given_k=True, default_loss=Loss.NWP),
    "nsga2": Method(nsga2, Nsga2Settings, given_k=True, default_loss=Loss.NWP),
    "genitor": Method(genitor, GenitorSettings, given_k=True, default_loss=Loss.GLM),
    "poka": Method(poka, PokaSettings, given_k=False, default_loss=Loss.GLM),
    "front": Method(front, LatticeSettings, given_k=False, default_loss=Loss.GLM),
    "exhaustive": Method(exhaustive, LatticeSettings, given_k=False, default_loss=Loss.GLM),
    "optimal": Method(optimal, LatticeSettings, given_k=True, default_loss=Loss.GLM),
}


def problem_for(evaluator: Evaluator, k: int, preference: Preference | None, loss: Loss) -> Problem:
    """The problem that searches see: nothing of the evaluator but its two functions."""
    return Problem(
        space=evaluator.space,
        evaluate=evaluator.score,
        column_loss=evaluator.column_loss,
        rows=evaluator.histogram.rows,
        k=k,
        preference=preference or DEFAULT_PREFERENCE,
        loss=loss,
        budget=evaluator.suppression.budget,
    )


def run_method(
    method: Method, problem: Problem, settings: Any, seed: int, watch: Watch
) -> tuple[Outcome, float]:
    """The outcome and the seconds it took."""
    start = time.perf_counter()
    outcome = method.run(problem, settings, np.random.default_rng(seed), watch)
    return outcome, time.perf_counter() - start
