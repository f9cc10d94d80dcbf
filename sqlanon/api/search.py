"""From a policy to a search: the method, its settings, and the suppression rule it works under."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from sqlanon.arguments import optional, text
from sqlanon.errors import ArgumentError, PolicyError, SearchError
from sqlanon.evaluate import Evaluator
from sqlanon.evaluate.pulse import Unfinished
from sqlanon.histogram import Histogram
from sqlanon.model import LossName
from sqlanon.policy import Policy, SearchSection
from sqlanon.policy.settings import PreferenceSection
from sqlanon.preference import Preference
from sqlanon.search.auto import AutoSettings, auto
from sqlanon.search.candidates import MOST, with_candidates
from sqlanon.search.coarsest import unscored
from sqlanon.search.exhaustive import exhaustive
from sqlanon.search.genitor import GenitorSettings, genitor
from sqlanon.search.lattice import FrontSettings, LatticeSettings
from sqlanon.search.lattice_front import front
from sqlanon.search.nsga2 import Nsga2Settings, nsga2
from sqlanon.search.optimal import optimal
from sqlanon.search.outcome import Limits, Outcome, Watch
from sqlanon.search.poka import PokaSettings, poka
from sqlanon.search.problem import Problem
from sqlanon.search.reference_direction import METHOD, SHORT, Exploration
from sqlanon.suppression import Suppression

DEFAULT_PREFERENCE = Preference(loss=0.2, bias=1.0)
"""The papers' own point: little loss, any bias."""
NO_PREFERENCE = (
    f"the policy names no preference: ach is for nwp {DEFAULT_PREFERENCE.loss} and "
    f"necd {DEFAULT_PREFERENCE.bias}"
)


@dataclass(frozen=True)
class Method:
    """A search, the class of its settings, and which of the two suppression rules it uses.

    A trade-off front has no k, so it suppresses up to the limit (POkA's η); a search for a
    given k suppresses classes below k only. Without a default loss, a search minimizes the
    achievement function. `cuts` bounds where it may cut a contiguous column; None where it
    takes levels. `lists_every_k` says that its solutions are for every k, not for one.
    """

    run: Callable[[Problem, Any, np.random.Generator, Watch], Outcome]
    settings: type[Any]
    given_k: bool
    default_loss: LossName | None
    cuts: int | None = None
    lists_every_k: bool = True

    def loss(self, section: SearchSection) -> LossName:
        """The loss to minimize."""
        if self.default_loss is None:
            return LossName.NWP
        return self.default_loss if section.loss is None else LossName(section.loss)


METHODS = {
    "auto": Method(auto, AutoSettings, given_k=True, default_loss=None, cuts=MOST),
    "nsga2": Method(nsga2, Nsga2Settings, given_k=True, default_loss=None, cuts=MOST),
    "genitor": Method(genitor, GenitorSettings, given_k=True, default_loss=LossName.GLM, cuts=MOST),
    "poka": Method(poka, PokaSettings, given_k=False, default_loss=LossName.GLM),
    "front": Method(front, FrontSettings, given_k=False, default_loss=LossName.GLM),
    "exhaustive": Method(exhaustive, FrontSettings, given_k=False, default_loss=LossName.GLM),
    "optimal": Method(
        optimal, LatticeSettings, given_k=True, default_loss=LossName.GLM, lists_every_k=False
    ),
}


WALK = METHOD
"""Not a method that runs by itself: the publisher chooses the way (Anonymizer.explore)."""
WALK_START = Preference(loss=1.0, bias=0.0)
"""Where a walk starts unless the policy says so: everything lost and no bias at all, so that
the way to the preference leads along the trade-off of the two."""


WALK_SETTINGS = frozenset({"start", "points", "cuts", *(f.name for f in fields(Nsga2Settings))})


def method_of(policy: Policy, name: str | None, effort: str | None = None) -> tuple[Method, Any]:
    """The method to use, the policy's or the named one, and its settings.

    What a policy sets is for its own method; another one runs with its defaults. `effort`
    replaces that of the policy.
    """
    section = policy.section.search
    wanted = optional(text, "method", name, "the name of a method") or section.method
    if wanted == WALK:
        raise PolicyError(f"{WALK} asks at every step; use explore(), or `sqlanon search`")
    if wanted not in METHODS:
        raise ArgumentError(f"there is no `method` {wanted!r}; there are {', '.join(METHODS)}")
    method = METHODS[wanted]
    if effort is not None and "effort" not in settings_of(method):
        raise ArgumentError(f"`effort` is a setting of auto; {wanted} has none")
    instead = {} if effort is None else {"effort": effort}
    if wanted != section.method:
        return method, method.settings(**instead)
    given = section.model_dump(exclude=set(section.COMMON), exclude_none=True) | instead
    cuts = given.pop("cuts", method.cuts)
    settings = method.settings(**given)
    if getattr(settings, "given_k", False):
        method = replace(method, given_k=True, lists_every_k=False)
    return replace(method, cuts=cuts), settings


def walk_settings(section: SearchSection) -> Nsga2Settings:
    """How each reference point of a walk is searched for."""
    names = {field.name for field in fields(Nsga2Settings)}
    if section.method != WALK:  # the settings are those of another method
        names = set()
    return replace(SHORT, **section.model_dump(include=names, exclude_none=True))


def settings_of(method: Method) -> frozenset[str]:
    """The settings of a method that a policy may give."""
    own = frozenset(field.name for field in fields(method.settings))
    return own if method.cuts is None else own | {"cuts"}


def problem_for(
    evaluator: Evaluator,
    k: int,
    preference: Preference | None,
    loss: LossName,
    rule: Suppression | None = None,
) -> Problem:
    """The problem that searches see: nothing of the evaluator but its two functions.

    A `rule` other than the evaluator's own needs no more detail than that.
    """
    rule = rule or evaluator.suppression
    moves = evaluator.histogram.tally.has_movers
    return Problem(
        space=evaluator.space,
        evaluate=partial(evaluator.score, rule=rule),
        column_loss=evaluator.column_loss,
        rows=evaluator.histogram.rows,
        k=k,
        preference=preference or DEFAULT_PREFERENCE,
        loss=loss,
        budget=rule.budget,
        models=evaluator.models,
        monotone=all(m.monotone_by_subject if moves else m.monotone for m in evaluator.models),
        pulse=evaluator.pulse,
    )


def bounded(
    problem: Problem, histogram: Histogram, cuts: int | None
) -> tuple[Problem, tuple[str, ...]]:
    """The problem with at most so many candidate cuts a column, and what to say of these."""
    if cuts is None:
        return problem, ()
    space, notes = with_candidates(problem.space, histogram.marginals, cuts)
    return replace(problem, space=space), notes


def preference_of(section: PreferenceSection) -> Preference:
    """The point that a policy names."""
    loss, bias = section.point
    return Preference(loss, bias, section.loss, section.bias)


def run_method(
    method: Method, problem: Problem, settings: Any, seed: int, watch: Watch
) -> tuple[Outcome, float]:
    """The outcome and the seconds it took.

    The clock of the watch starts here, and is looked at within batches too. Where it ends the
    search before anything was scored, the coarsest scheme is the outcome.
    """
    start = time.perf_counter()
    watch.start()
    try:
        with problem.pulse.heard_by(watch.within_step):
            outcome = method.run(problem, settings, np.random.default_rng(seed), watch)
    except Unfinished:
        aims = objectives_of(method, problem)
        outcome = unscored(problem, method.run.__name__, aims, watch.stopped)
    return outcome, time.perf_counter() - start


def objectives_of(method: Method, problem: Problem) -> tuple[str, str]:
    """What an answer without a search names as its objectives."""
    return ("ach" if method.default_loss is None else problem.loss.value), "k"


def resumed(
    document: object,
    problem: Problem,
    seed: int | None,
    limits: Limits,
    settings: Nsga2Settings,
    notes: tuple[str, ...],
) -> Exploration:
    """A saved walk to the preference of the problem; its steps go by its own seed."""
    walk = Exploration.from_json(document, problem, settings=settings, limits=limits, notes=notes)
    if walk.preference != problem.preference:
        raise SearchError(
            f"the exploration was saved with the preference {_written(walk.preference)}, and the "
            f"policy says {_written(problem.preference)}; put the former into the policy, or "
            "start a new one"
        )
    if seed not in (None, walk.seed):
        raise SearchError(
            f"the exploration was saved with the seed {walk.seed}, not {seed}; leave the seed "
            "out, or start a new one"
        )
    return walk


def _written(point: Preference) -> str:
    return f"{point.loss_by} {point.loss:g}, {point.bias_by} {point.bias:g}"
