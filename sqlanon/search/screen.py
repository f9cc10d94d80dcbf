"""What is known of a scheme before it is scored, so that most neighbours need no query.

Y refines X here. Every class of Y lies inside one of X. So rows in classes below k only grow
from X to Y: what refines a scheme with more of them than may be suppressed is no more
feasible. Without suppression k does not grow from X to Y, nor does the largest class; so an
exchange that undoes split c and makes split f has at most the k of the scheme without c and
at least the largest class of the scheme with f.

NWP without suppression is known without a query (prices.py), and suppressed rows only add to
it. Both give bounds of ach from below. A neighbour that must be worse than the
scheme itself need not be asked for; one that may be equal still may win by k.
"""

from __future__ import annotations

import numpy as np

from sqlanon.metrics import Scores
from sqlanon.model import BiasName, LossName
from sqlanon.preference import Preference
from sqlanon.scheme import Bits
from sqlanon.search.infeasible import Infeasible
from sqlanon.search.moves import Changes
from sqlanon.search.prices import Prices
from sqlanon.search.problem import Floats, Problem
from sqlanon.search.taxonomy import Splits

SLACK = 1e-11
"""How far rounding may put a share, or ach, below a bound computed in another order."""
REMEMBERED = 4_000
"""So many infeasible schemes are kept unless said otherwise, the latest ones."""


class Screen:
    """Bounds for the neighbours of a scheme of one problem, and a memory of what is infeasible."""

    def __init__(self, problem: Problem, remembered: int = REMEMBERED) -> None:
        self._problem = problem
        self._splits = Splits.of_space(problem.space)
        self._prices = Prices(problem)
        self._infeasible = Infeasible(self._splits, remembered)

    def learn(self, bits: Bits, scores: Scores) -> None:
        """Takes in scored schemes."""
        hopeless = self._problem.hopeless(scores)
        if hopeless.any():
            self._infeasible.learn(self._splits.made(bits[hopeless]))

    def infeasible(self, made: Bits, changes: Changes) -> Bits:
        """Which changes of a feasible scheme are known to lead to an infeasible one."""
        return self._infeasible.among(made, changes)

    def least_ach(self, preference: Preference, made: Bits, changes: Changes) -> Floats:
        """No change leads to a smaller ach, by NWP alone."""
        here = self._problem.space.batch_of_bits(self._splits.bits(made[None]))
        which = np.zeros(len(changes), dtype=np.int64)
        nwp = self._prices.of(here) + self._prices.added(here, made[None], which, changes)
        return least_ach(preference, nwp)


def least_ach(preference: Preference, nwp: Floats) -> Floats:
    """A bound of ach from below, for schemes whose NWP without suppression is known.

    Of a preference by another loss it says nothing.
    """
    if preference.loss_by is not LossName.NWP:
        return np.zeros(len(nwp))
    nwp = np.maximum(nwp - SLACK, 0.0)
    return preference.ach(nwp, np.zeros(len(nwp))) * (1 - SLACK)


class Spread:
    """What the moves of one scheme tell about the bias of its exchanges, without suppression."""

    def __init__(self, problem: Problem, here: Scores, splits: int) -> None:
        span = int(here.k_max[0] - here.k[0])
        # Without a span there is no bias to lower, and people cannot be told from NECD.
        tells = span > 0 and not problem.budget and problem.preference.bias_by is BiasName.NECD
        self._unit = float(here.necd[0]) / span if tells else 0.0
        self._preference = problem.preference
        self._k = np.full(splits, 2**62, dtype=np.int64)
        self._k_max = np.zeros(splits, dtype=np.int64)
        self._known = np.zeros(splits, dtype=bool)

    def learn(self, changes: Changes, scores: Scores) -> None:
        """Takes in scored moves."""
        up, down = changes.coarser < 0, changes.finer < 0
        self._k_max[changes.finer[up]] = scores.k_max[up]
        self._k[changes.coarser[down]] = scores.k[down]
        self._known[changes.finer[up]] = True
        self._known[changes.coarser[down]] = True

    def unknown(self, changes: Changes) -> Bits:
        """Which of these moves have not been scored."""
        return ~self._known[np.maximum(changes.finer, changes.coarser)]

    def least_ach(self, changes: Changes) -> Floats:
        """No exchange leads to a smaller ach, by NECD alone."""
        span = np.maximum(self._k_max[changes.finer] - self._k[changes.coarser], 0)
        necd = span * (self._unit * (1 - SLACK))
        return self._preference.ach(np.zeros(len(necd)), necd) * (1 - SLACK)
