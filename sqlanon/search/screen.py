"""What is known of a scheme before it is scored, so that most neighbours need no query.

Y refines X here. Every class of Y lies inside one of X. So rows in classes below k only grow
from X to Y: what refines a scheme with more of them than may be suppressed is no more
feasible. Without suppression k does not grow from X to Y, nor does the largest class; so an
exchange that undoes split c and makes split f has at most the k of the scheme without c and
at least the largest class of the scheme with f.

NWP without suppression is a sum over columns and known without a query, and suppressed rows
only add to it. Both give bounds of ach from below. A neighbour that must be worse than the
scheme itself need not be asked for; one that may be equal still may win by k.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.metrics import Scores
from sqlanon.preference import Preference
from sqlanon.scheme import Bits
from sqlanon.search.moves import Changes, columns_of
from sqlanon.search.problem import Floats, Ints, Problem
from sqlanon.search.taxonomy import Splits

Words = npt.NDArray[np.uint64]

SLACK = 1e-11
"""How far rounding may put ach below a bound computed in another order."""
REMEMBERED = 4_000
"""So many infeasible schemes are kept unless said otherwise, the latest ones."""
MOST_ADDED = 2
"""A move or an exchange makes at most so many splits: one, and NULL's own above it."""


class Screen:
    """Bounds for the neighbours of a scheme of one problem, and a memory of what is infeasible."""

    def __init__(self, problem: Problem, remembered: int = REMEMBERED) -> None:
        self._problem = problem
        self._remembered = remembered
        self._splits = Splits.of_space(problem.space)
        self._column, _ = columns_of(problem.space, self._splits)
        columns = problem.space.columns
        weights = np.array([c.weight for c in columns], dtype=np.float64)
        steps = np.array([max(c.size - 1, 1) for c in columns], dtype=np.float64)
        self._price = weights / weights.sum() / steps / problem.rows
        self._infeasible = np.zeros((0, len(self._splits)), dtype=bool)
        self._packed = _packed(self._infeasible)

    def learn(self, bits: Bits, scores: Scores) -> None:
        """Takes in scored schemes."""
        beyond = scores.rows_below > self._problem.budget
        if beyond.any():
            made = self._splits.made(bits[beyond])
            self._infeasible = np.concatenate([self._infeasible, made])[-self._remembered :]
            self._packed = np.concatenate([self._packed, _packed(made)])[-self._remembered :]

    def infeasible(self, made: Bits, changes: Changes) -> Bits:
        """Which changes of a feasible scheme are known to lead to an infeasible one.

        One that makes split f and undoes split c refines a remembered scheme if making f
        alone does and the remembered one does without c.
        """
        known = np.zeros(len(changes), dtype=bool)
        near = np.flatnonzero(_count(self._packed & ~_packed(made[None])) <= MOST_ADDED)
        splits = np.unique(changes.finer[changes.finer >= 0])
        if not len(near) or not len(splits):
            return known
        finer = Changes(splits, np.full(len(splits), -1)).applied(self._splits, made)
        # The last entry of a row stands for a change that undoes nothing.
        hopeless = np.zeros((len(splits), len(made) + 1), dtype=bool)
        for row, words in enumerate(_packed(finer)):
            refined = near[(self._packed[near] & ~words == 0).all(axis=1)]
            if len(refined):
                hopeless[row] = np.append(~self._infeasible[refined].all(axis=0), True)
        makes = changes.finer >= 0
        row_of = np.searchsorted(splits, changes.finer[makes])
        known[makes] = hopeless[row_of, changes.coarser[makes]]
        return known

    def refines(self, made: Bits) -> Bits:
        """Which schemes, one row of splits each, refine a remembered one: infeasible too."""
        remembered = np.ascontiguousarray(self._packed.T)
        known = np.zeros(len(made), dtype=bool)
        for row, words in enumerate(~_packed(made)):
            left = remembered[0] & words[0]
            for some, word in zip(remembered[1:], words[1:], strict=True):
                left |= some & word
            known[row] = not left.all()
        return known

    def least_ach(self, preference: Preference, made: Bits, changes: Changes) -> Floats:
        """No change leads to a smaller ach, by NWP alone."""
        losses = self._losses(made, changes)
        total = np.zeros(len(changes))
        for price, loss in zip(self._price, losses.T, strict=True):
            total += price * loss
        return preference.ach(total * (1 - SLACK), np.zeros(len(changes))) * (1 - SLACK)

    def _losses(self, made: Bits, changes: Changes) -> Ints:
        """The loss of every column after each change.

        Changes of two columns are made of the changes of one: only those are worked out.
        """
        finer, coarser, column = changes.finer, changes.coarser, self._column
        undone, done = coarser >= 0, finer >= 0
        alone = ~(undone & done) | (column[finer] == column[coarser])
        nothing = np.full(len(self._splits), -1)
        every = np.arange(len(self._splits))
        ups, downs = np.unique(finer[done & ~alone]), np.unique(coarser[undone & ~alone])
        parts = (
            Changes(np.array([-1]), np.array([-1])),
            Changes(finer[alone], coarser[alone]),
            Changes(ups, nothing[: len(ups)]),
            Changes(nothing[: len(downs)], downs),
        )
        asked = Changes(
            np.concatenate([p.finer for p in parts]), np.concatenate([p.coarser for p in parts])
        )
        space = self._problem.space
        bits = self._splits.bits(asked.applied(self._splits, made))
        found = self._problem.column_loss(space.batch_of_bits(bits))
        here, by_itself, by_up, by_down = np.split(found, np.cumsum([len(p) for p in parts])[:-1])
        losses = np.repeat(here, len(changes), axis=0)
        losses[alone] = by_itself
        rows = np.flatnonzero(~alone)
        for splits, ranked, loss in ((finer[rows], ups, by_up), (coarser[rows], downs, by_down)):
            place = np.zeros(len(every), dtype=np.int64)
            place[ranked] = np.arange(len(ranked))
            losses[rows, column[splits]] = loss[place[splits], column[splits]]
        return losses


class Spread:
    """What the moves of one scheme tell about the bias of its exchanges, without suppression."""

    def __init__(self, problem: Problem, here: Scores, splits: int) -> None:
        span = int(here.k_max[0] - here.k[0])
        # Without a span there is no bias to lower, and people cannot be told from NECD.
        self._unit = float(here.necd[0]) / span if span > 0 and not problem.budget else 0.0
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


def _packed(made: Bits) -> Words:
    """Rows of splits as 64-bit words."""
    raw = np.packbits(made, axis=1)
    words = np.zeros((len(made), -(-max(made.shape[1], 1) // 64) * 8), dtype=np.uint8)
    words[:, : raw.shape[1]] = raw
    return words.view(np.uint64)


def _count(words: Words) -> Ints:
    return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))
