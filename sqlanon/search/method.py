"""The declaration of a search, and the registry of all searches.

A search is added by one decorator on the function that runs it, and by its import in the
`__init__` of this package. Policies, commands and documentation read the registry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import ConfigDict, ValidationError

from sqlanon.errors import SearchError
from sqlanon.evaluate import Unfinished
from sqlanon.keys import Whole, about
from sqlanon.search.outcome import Outcome, Watch, unscored
from sqlanon.search.problem import Problem

MANY = 1_000_000_000_000
"""No number of steps or schemes is larger."""

SETTINGS = ConfigDict(extra="forbid", defer_build=True)
"""How pydantic makes the dataclass of a method's settings: unknown names are refused."""

# A key of every search that cuts contiguous columns anywhere.
Cuts = Annotated[
    Whole,
    about("Places where a contiguous column of more values may be cut.", ge=1, le=100_000),
]
SCORED = "Schemes to score, repeated ones included."

Runner = TypeVar("Runner", bound=Callable[..., Any])


@dataclass(frozen=True)
class Method:
    """A search as policies, commands and documentation know it.

    key            its name
    settings       a dataclass of pydantic; its fields are what a policy may set, with their
                   types, ranges, defaults and descriptions
    run            takes a problem, the settings, a generator and a watch, and returns an Outcome
    given_k        whether rows are suppressed as for the required k. A search for every k has
                   none, and suppresses up to the limit (POkA's η)
    default_loss   the loss that is minimized unless the policy names one; None for searches
                   that minimize the achievement function
    lists_every_k  whether its solutions are for every k, not for one
    interactive    whether the publisher chooses the way, so that `run` makes a walk instead
    """

    key: str
    settings: type[Any]
    run: Callable[..., Any]
    given_k: bool = True
    default_loss: str | None = None
    lists_every_k: bool = True
    interactive: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """What a policy may set, by name."""
        return tuple(sorted(field.name for field in fields(self.settings)))

    @property
    def by_levels(self) -> bool:
        """Whether a contiguous column has levels only, since the search sets no cuts."""
        return "cuts" not in self.keys

    def loss(self, named: str | None) -> str:
        """The loss to minimize, where a policy names one or none."""
        return "nwp" if self.default_loss is None else named or self.default_loss

    def aims(self, problem: Problem) -> tuple[str, str]:
        """What an answer without a search names as its objectives."""
        return ("ach" if self.default_loss is None else problem.loss), "k"

    def ruled_by(self, settings: Any) -> Method:
        """The same, but with the suppression rule that its settings ask for."""
        if getattr(settings, "given_k", self.given_k) == self.given_k:
            return self
        return replace(self, given_k=True, lists_every_k=False)

    def configured(self, given: Mapping[str, Any]) -> Any:
        """The settings with some values instead of the defaults."""
        try:
            return self.settings(**given)
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            wanted = wrong["msg"].removeprefix("Input should be ")
            raise SearchError(
                f"{self.key}: {wrong['loc'][0]} must be {wanted}, not {wrong['input']!r}"
            ) from None

    def solve(
        self, problem: Problem, settings: Any, seed: int, watch: Watch
    ) -> tuple[Outcome, float]:
        """The outcome and the seconds it took.

        The clock of the watch starts here, and is looked at within batches too. Where it ends
        the search before anything was scored, the coarsest scheme is the outcome.
        """
        start = time.perf_counter()
        watch.start()
        try:
            with problem.pulse.heard_by(watch.within_step):
                outcome = self.run(problem, settings, np.random.default_rng(seed), watch)
        except Unfinished:
            outcome = unscored(problem, self.key, self.aims(problem), watch.stopped)
        return outcome, time.perf_counter() - start


METHODS: dict[str, Method] = {}
"""The searches by name, in alphabetical order."""


def register(
    key: str,
    settings: type[Any],
    *,
    given_k: bool = True,
    default_loss: str | None = None,
    lists_every_k: bool = True,
    interactive: bool = False,
) -> Callable[[Runner], Runner]:
    """Decorates what runs a search, which then is one of METHODS."""

    def add(run: Runner) -> Runner:
        METHODS[key] = Method(key, settings, run, given_k, default_loss, lists_every_k, interactive)
        ordered = sorted(METHODS.items())
        METHODS.clear()
        METHODS.update(ordered)
        return run

    return add
