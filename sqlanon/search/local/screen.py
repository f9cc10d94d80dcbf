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
import numpy.typing as npt

from sqlanon.domain import Batch, Bits
from sqlanon.metrics import SLACK, Floats, Ints, Preference, Scores
from sqlanon.search.problem import Problem
from sqlanon.search.splits import Changes, Splits, columns_of

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

    def least_ach_of(self, preference: Preference, bits: Bits) -> Floats:
        """No suppression makes the ach of one of these schemes smaller."""
        return least_ach(preference, self._prices.of(self._problem.space.batch_of_bits(bits)))


def least_ach(preference: Preference, nwp: Floats) -> Floats:
    """A bound of ach from below, for schemes whose NWP without suppression is known.

    Of a preference by another loss it says nothing.
    """
    if preference.loss_by != "nwp":
        return np.zeros(len(nwp))
    nwp = np.maximum(nwp - SLACK, 0.0)
    return preference.ach(nwp, np.zeros(len(nwp))) * (1 - SLACK)


class ExchangeBias:
    """What the moves of one scheme tell about the bias of its exchanges, without suppression."""

    def __init__(self, problem: Problem, here: Scores, splits: int) -> None:
        span = int(here.k_max[0] - here.k[0])
        # Without a span there is no bias to lower, and people cannot be told from NECD.
        tells = span > 0 and not problem.budget and problem.preference.bias_by == "necd"
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


Words = npt.NDArray[np.uint64]

MOST_ADDED = 2
"""A move or an exchange makes at most so many splits: one, and NULL's own above it."""


class Infeasible:
    """A memory of the latest infeasible schemes, `most` of them, as sets of splits."""

    def __init__(self, splits: Splits, most: int) -> None:
        self._splits = splits
        self._most = most
        self._made = np.zeros((0, len(splits)), dtype=bool)
        self._packed = packed(self._made)

    def learn(self, made: Bits) -> None:
        """Takes in infeasible schemes, one row of splits each."""
        self._made = np.concatenate([self._made, made])[-self._most :]
        self._packed = np.concatenate([self._packed, packed(made)], axis=1)[:, -self._most :]

    def near(self, made: Bits) -> Words:
        """Those that a move or an exchange from a scheme may lead to a refinement of."""
        return self._packed[:, is_near(self._packed, made)]

    def among(self, made: Bits, changes: Changes) -> Bits:
        """Which changes of a scheme lead to a refinement of a remembered one.

        One that makes split f and undoes split c does if making f alone does and the
        remembered scheme does without c.
        """
        known = np.zeros(len(changes), dtype=bool)
        near = np.flatnonzero(is_near(self._packed, made))
        splits = np.unique(changes.finer[changes.finer >= 0])
        if not len(near) or not len(splits):
            return known
        finer = Changes(splits, np.full(len(splits), -1)).applied(self._splits, made)
        # The last entry of a row stands for a change that undoes nothing.
        hopeless = np.zeros((len(splits), len(made) + 1), dtype=bool)
        candidates = self._packed[:, near]
        for row, words in enumerate(packed(finer).T):
            refined = near[_missing(candidates, words[:, None]) == 0]
            if len(refined):
                hopeless[row] = np.append(~self._made[refined].all(axis=0), True)
        makes = changes.finer >= 0
        row_of = np.searchsorted(splits, changes.finer[makes])
        known[makes] = hopeless[row_of, changes.coarser[makes]]
        return known


def is_near(known: Words, made: Bits) -> Bits:
    """Which of the `known` schemes a move or an exchange from a scheme may refine."""
    absent = np.zeros(known.shape[1], dtype=np.int64)
    for word, of_scheme in zip(known, packed(made[None]), strict=True):
        absent += np.bitwise_count(word & ~of_scheme)
    return np.asarray(absent <= MOST_ADDED)


def refines_any(schemes: Words, known: Words) -> Bits:
    """Which of the `schemes` refine one of the `known`."""
    return np.asarray((_missing(known[:, None], schemes[:, :, None]) == 0).any(axis=1))


def _missing(known: Words, schemes: Words) -> Words:
    """Folds into one word the splits of known schemes that others lack; 0 if they lack nothing."""
    missing: Words = known[0] & ~schemes[0]
    for of_known, of_scheme in zip(known[1:], schemes[1:], strict=True):
        missing |= of_known & ~of_scheme
    return missing


def packed(made: Bits) -> Words:
    """Schemes, a row of splits each, as 64-bit words."""
    raw = np.packbits(made, axis=1)
    words = np.zeros((len(made), -(-max(made.shape[1], 1) // 64) * 8), dtype=np.uint8)
    words[:, : raw.shape[1]] = raw
    return np.ascontiguousarray(words.view(np.uint64).T)


MOST = 200_000
"""So many changes of a column are remembered, then all are forgotten."""
CHUNK = 20_000_000
"""Bits worked on at a time: between two such parts a search can end."""


class Prices:
    """What changes of the schemes of one problem add to NWP."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._splits = Splits.of_space(problem.space)
        self._column, _ = columns_of(problem.space, self._splits)
        columns = problem.space.columns
        weights = np.array([c.weight for c in columns], dtype=np.float64)
        steps = np.array([max(c.size - 1, 1) for c in columns], dtype=np.float64)
        self._price = weights / weights.sum() / steps / problem.rows
        self._known: dict[int, float] = {}

    def of(self, batch: Batch) -> Floats:
        """The NWP of schemes without suppression."""
        # Column by column, so that a scheme's NWP does not depend on those beside it.
        total = np.zeros(len(batch))
        for price, loss in zip(self._price, self._problem.column_loss(batch).T, strict=True):
            total += price * loss
        return total

    def added(self, batch: Batch, made: Bits, which: Ints, changes: Changes) -> Floats:
        """What each change adds to the NWP of the scheme in row `which` of a batch.

        `made` holds the splits of the batch's schemes.
        """
        finer, coarser, column = changes.finer, changes.coarser, self._column
        both = (finer >= 0) & (coarser >= 0)
        # A change of two columns is two changes of one column each.
        two = np.flatnonzero(both & (column[finer] != column[coarser]))
        first = np.where(finer >= 0, column[finer], column[coarser])
        alone = coarser.copy()
        alone[two] = -1
        none = np.full(len(two), -1)
        parts = self._of_columns(
            batch,
            made,
            np.concatenate([which, which[two]]),
            np.concatenate([first, column[coarser[two]]]),
            Changes(np.concatenate([finer, none]), np.concatenate([alone, coarser[two]])),
        )
        added = parts[: len(changes)]
        added[two] += parts[len(changes) :]
        return added

    def _of_columns(
        self, batch: Batch, made: Bits, which: Ints, column: Ints, changes: Changes
    ) -> Floats:
        """The same for changes of the given columns alone."""
        base = len(self._splits) + 1
        ids = batch.ids[which, column].astype(np.int64)
        # A split tells its column, so the number of the partition within it is enough.
        keys = ((ids * base + changes.finer + 1) * base + changes.coarser + 1).tolist()
        found = [self._known.get(key) for key in keys]
        missing = [i for i, known in enumerate(found) if known is None]
        if missing:
            if len(self._known) > MOST:
                self._known.clear()
            step = max(1, CHUNK // max(self._splits.positions, 1))
            for start in range(0, len(missing), step):
                rows = np.array(missing[start : start + step])
                worked_out = self._worked_out(
                    batch, made, which[rows], column[rows], changes.take(rows)
                )
                for i, price in zip(rows.tolist(), worked_out.tolist(), strict=True):
                    found[i] = self._known[keys[i]] = price
                self._problem.pulse.check()
        return np.array(found, dtype=np.float64)

    def _worked_out(
        self, batch: Batch, made: Bits, which: Ints, column: Ints, changes: Changes
    ) -> Floats:
        space, rows = self._problem.space, np.arange(len(which))
        bits = self._splits.bits(changes.applied_to(self._splits, made[which]))
        after = self._problem.column_loss(space.batch_of_bits(bits))[rows, column]
        before = self._problem.column_loss(batch.take(which))[rows, column]
        return np.asarray((after - before) * self._price[column])
