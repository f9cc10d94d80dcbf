"""Which bit strings the families of columns allow, and how to draw, change and repair them.

All three families say the same kind of thing: some positions are cut together or not at
all, and only where some other positions are cut too. Positions that go together are called
a *split* here, because cutting them splits one node of the tree into its children:

    taxonomic    one split per node: the cuts between its children; it needs the split of the
                 node's parent
    contiguous   one split per position; none needs another
    full-domain  one split per level: the cuts that it has and the level above it has not; it
                 needs the split of the level above
    NULL         is a child of the root, beside the tree of the values: its cut is a split
                 that all others of its column need, and part of the first of a full-domain
                 column (the rule of `null_apart`)

So the splits of a column, and of a whole space, are a forest, and a bit string is valid when
it is made of whole splits, each with all splits above it. With n(s) valid ways to go on below
a split s once the splits above it are made,

    n(s) = 1 + Π n(children of s)        leave s out, or make it and go on below it,

a valid string is drawn uniformly from the top down by leaving s out with probability 1/n(s).
Nothing is drawn first and repaired afterwards, so no string is favoured for being the
neighbour of many invalid ones.

Level limits decide some splits beforehand. The limits of a column are valid strings of its
family, so a split lies wholly in each of them or wholly outside: those of max_level are always
made, and those that min_level does not have never are. What is left to choose from is a forest
again. The positions decided form one further split of their own, the last, which counts as
made in every string and is never offered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Bits, Column, Family, Space
from sqlanon.metrics import Ints

_MOST = 2**63 - 1
"""The largest bound that numpy draws below."""


@dataclass(frozen=True, eq=False)
class Splits:
    """The splits of a column or of a space, numbered so that a split follows those above it.

    at       the split of every position
    above    the split that each split needs, −1 where it needs none
    decided  if limits decide any position: the cuts that they demand, by position; the last
             split is then that of all positions decided

    A valid string is the same as the set of splits made in it: `made` and `bits` lead from
    one to the other, for one string or for one per row.
    """

    at: Ints
    above: Ints
    decided: Bits | None = None

    def __len__(self) -> int:
        return len(self.above)

    @classmethod
    def of_column(cls, column: Column) -> Splits:
        splits = cls(*splits_of_family(column))
        if not column.is_limited:
            return splits
        return splits._between(column.coarsest.bits, column.finest.bits)

    def _between(self, coarsest: Bits, finest: Bits) -> Splits:
        """The same without a choice where a split is in the one or not in the other."""
        free = self.made(finest) & ~self.made(coarsest)
        if free.all():
            return self
        # The entry of −1 stays −1, and so does a split above that is always made.
        number = np.append(np.where(free, np.cumsum(free) - 1, -1), -1)
        at = np.where(free[self.at], number[self.at], free.sum())
        return Splits(at, np.append(number[self.above[free]], -1), coarsest)

    @classmethod
    def of_space(cls, space: Space) -> Splits:
        """The splits of all columns side by side: columns do not constrain each other."""
        known = _KNOWN.get(space)
        if known is not None:
            return known
        parts = [cls.of_column(column) for column in space.columns]
        at, above, before = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        total = sum(part.choices for part in parts)
        for part in parts:
            at.append(np.where(part.at < part.choices, part.at + before, total))
            up = part.above[: part.choices]
            above.append(np.where(up < 0, -1, up + before))
            before += part.choices
        decided = None
        if any(part.decided is not None for part in parts):
            decided = space.demanded
            above.append(np.array([-1]))
        made = _KNOWN[space] = cls(np.concatenate(at), np.concatenate(above), decided)
        return made

    @property
    def positions(self) -> int:
        return len(self.at)

    @property
    def choices(self) -> int:
        """The number of splits that may be made or not: all but the one of what is decided."""
        return len(self) - (self.decided is not None)

    @cached_property
    def count(self) -> int:
        """The number of valid bit strings."""
        roots = np.flatnonzero(self.above < 0)
        return math.prod(self._ways[s] for s in roots.tolist())

    def made(self, bits: Bits) -> Bits:
        """The splits of valid strings."""
        made = bits[..., self.first]
        made[..., self.choices :] = True
        return made

    def bits(self, made: Bits) -> Bits:
        """The strings of which these are the splits."""
        bits = made[..., self.at]
        return bits if self.decided is None else np.where(self._chosen, bits, self.decided)

    def valid(self, bits: Bits) -> Bits:
        """Whether a bit string is valid, or which rows of bits are."""
        made = self.made(bits)
        whole = (bits == self.bits(made)).all(axis=-1)
        return np.asarray(whole & (made <= self._made_above(made)).all(axis=-1))

    def refining(self, made: Bits) -> Bits:
        """The splits that can be made next, on their own."""
        refining = ~made & self._made_above(made)
        refining[..., self.choices :] = False
        return refining

    def coarsening(self, made: Bits) -> Bits:
        """The splits that can be undone, on their own."""
        below, starts = self._below
        needed = np.zeros_like(made)
        needed[..., self.choices :] = True
        if len(below):
            needed[..., self.above[below[starts]]] = np.logical_or.reduceat(
                made[..., below], starts, axis=-1
            )
        return made & ~needed

    def rooted(self, made: Bits) -> Bits:
        """Drops the splits that miss one above them; one set per row."""
        rooted = made.copy()
        for deeper in self._by_depth[1:]:
            rooted[:, deeper] &= rooted[:, self.above[deeper]]
        return rooted

    def random(self, number: int, rng: np.random.Generator) -> Bits:
        """Draws valid bit strings, one per row, uniformly among all valid ones."""
        made = rng.integers(0, self._bounds, size=(number, len(self))) > 0
        for s in self._wide:
            made[:, s] = [below(rng, self._ways[s]) > 0 for _ in range(number)]
        return self.bits(self.rooted(made))

    def closest(self, bits: Bits, rng: np.random.Generator) -> Bits:
        """A valid bit string of least Hamming distance, drawn uniformly among the closest.

        From the bottom up, each split knows the least distance of its positions and all
        below when it is left out (every 1 goes) and when it is made (its own 0s are filled
        in), and in how many ways the lesser is reached; then choices are made from the top.
        """
        if self.valid(bits):
            return bits.copy()
        without = np.bincount(self.at, bits, len(self)).astype(np.int64).tolist()
        filled = np.bincount(self.at, ~bits, len(self)).astype(np.int64).tolist()
        ways = [1] * len(filled)
        gain = [0] * len(filled)  # what making the split saves
        for s in reversed(range(len(filled))):
            up = self._above[s]
            gain[s] = without[s] - filled[s]
            if gain[s] <= 0:
                ways[s] = 1 if gain[s] else 1 + ways[s]
            if up >= 0:
                without[up] += without[s]
                filled[up] += min(without[s], filled[s])
                ways[up] *= ways[s]
        made = [False] * len(filled)
        for s, up in enumerate(self._above):
            if gain[s] >= 0 and (up < 0 or made[up]):
                made[s] = gain[s] > 0 or below(rng, ways[s]) > 0
        return self.bits(np.array(made))

    @cached_property
    def first(self) -> Ints:
        """The first position of each split."""
        first = np.empty(len(self), dtype=np.int64)
        first[self.at[::-1]] = np.arange(self.positions)[::-1]
        return first

    @cached_property
    def free(self) -> Ints:
        """The positions that are not decided beforehand."""
        return np.flatnonzero(self._chosen)

    @cached_property
    def _chosen(self) -> Bits:
        """Which positions these are."""
        return self.at < self.choices

    @cached_property
    def _above(self) -> list[int]:
        return [int(s) for s in self.above]

    @cached_property
    def _ways(self) -> list[int]:
        """n(s), exact; 1 where nothing is to choose."""
        made = [1] * len(self)
        for s in reversed(range(self.choices)):
            made[s] += 1
            if self._above[s] >= 0:
                made[self._above[s]] *= made[s]
        return made

    @cached_property
    def _bounds(self) -> Ints:
        return np.array([min(n, _MOST) for n in self._ways], dtype=np.int64)

    @cached_property
    def _wide(self) -> list[int]:
        """Splits with more ways than numpy can draw from."""
        return [s for s, n in enumerate(self._ways) if n > _MOST]

    @cached_property
    def _by_depth(self) -> list[Ints]:
        depth = np.zeros(len(self), dtype=np.int64)
        for s, up in enumerate(self._above):
            depth[s] = 0 if up < 0 else depth[up] + 1
        return [np.flatnonzero(depth == d) for d in range(int(depth.max(initial=0)) + 1)]

    @cached_property
    def _below(self) -> tuple[Ints, Ints]:
        """The splits that need another, grouped by it, and where each group starts."""
        below = np.flatnonzero(self.above >= 0)
        below = below[np.argsort(self.above[below], kind="stable")]
        return below, np.unique(self.above[below], return_index=True)[1]

    def _made_above(self, made: Bits) -> Bits:
        """For each split, whether the one above is made; True where it needs none."""
        return np.where(self.above < 0, True, made[..., self.above])


_KNOWN: WeakKeyDictionary[Space, Splits] = WeakKeyDictionary()
"""Trees are laid out once per space."""


def below(rng: np.random.Generator, bound: int) -> int:
    """A whole number 0 ≤ i < bound, exactly uniform for any bound."""
    if bound <= _MOST:
        return int(rng.integers(bound))
    size = bound.bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes((size + 7) // 8), "little") >> (-size % 8)
        if drawn < bound:
            return drawn


_LEVELS = Family.FULL_DOMAIN


def splits_of_family(column: Column) -> tuple[Ints, Ints]:
    """The split of every position, and the split that each split needs, −1 where it needs none.

    A split follows those above it. Level limits play no part here.
    """
    at = np.full(column.positions, -1, dtype=np.int64)
    above: list[int] = []
    root = -1
    if column.domain.has_null and column.positions and column.family is not _LEVELS:
        at[-1] = root = 0
        above.append(-1)
    if column.family is Family.CONTIGUOUS:  # a split for each position; there may be a million
        inner = max(column.domain.width - 1, 0)
        at[:inner] = np.arange(inner) + len(above)
        return at, np.array(above + [root] * inner, dtype=np.int64)
    for positions, parent in _splits_of_values(column):
        at[positions] = len(above)
        above.append(root if parent is None else parent + root + 1)
    return at, np.array(above, dtype=np.int64)


def _splits_of_values(column: Column) -> list[tuple[list[int], int | None]]:
    """Positions of each split but NULL's own, and the number of the split above it."""
    if column.family is _LEVELS:
        return _splits_of_levels(column)
    return _splits_of_tree(column)


def _splits_of_tree(column: Column) -> list[tuple[list[int], int | None]]:
    """One split for each node with several children, outer nodes before inner ones."""
    width = column.domain.width
    nodes: list[tuple[int, int, list[int]]] = []
    for lower, upper in pairwise(column.levels):
        parted = upper.bits[: width - 1]
        fresh = np.flatnonzero(lower.bits[: width - 1] & ~parted)
        edges = np.concatenate([[0], np.flatnonzero(parted) + 1, [width]])
        owner = np.searchsorted(edges, fresh, side="right") - 1
        first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])[: len(owner)])
        for node, part in zip(owner[first].tolist(), np.split(fresh, first[1:]), strict=False):
            nodes.append((int(edges[node]), -int(edges[node + 1]), part.tolist()))
    found: list[tuple[list[int], int | None]] = []
    pending: list[tuple[int, int]] = []
    for start, stop, cuts in sorted(nodes):
        while pending and pending[-1][0] <= start:
            pending.pop()
        found.append((cuts, pending[-1][1] if pending else None))
        pending.append((-stop, len(found) - 1))
    return found


def _splits_of_levels(column: Column) -> list[tuple[list[int], int | None]]:
    found: list[tuple[list[int], int | None]] = []
    known: set[int] = set()
    for level in reversed(column.levels):
        fresh = set(level.cuts) - known
        if fresh:
            found.append((sorted(fresh), len(found) - 1 if found else None))
            known |= fresh
    return found


def space_size(space: Space) -> int:
    """How many schemes the families and limits of the columns allow."""
    return Splits.of_space(space).count


def all_schemes(space: Space, rows: int = 1_000) -> Iterator[Bits]:
    """Every scheme of a space once, as rows of bits in ascending order, `rows` at a time."""
    splits = Splits.of_space(space)
    made = np.zeros((1, len(splits)), dtype=bool)
    for split, above in enumerate(splits.above[: splits.choices]):
        # Splits follow those above them, so all that can be below is still to come.
        more = made[made[:, above]] if above >= 0 else made.copy()
        more[:, split] = True
        made = np.concatenate([made, more])
    if len(splits):  # strings differ first where the first positions of their splits do
        made = made[np.lexsort(made[:, np.argsort(splits.first)[::-1]].T)]
    for start in range(0, len(made), rows):
        yield splits.bits(made[start : start + rows])


@dataclass(frozen=True)
class Changes:
    """Some changes of schemes: the split that each makes and the one it undoes, −1 = none."""

    finer: Ints
    coarser: Ints

    def __len__(self) -> int:
        return len(self.finer)

    def take(self, rows: npt.NDArray[np.integer] | Bits) -> Changes:
        return Changes(self.finer[rows], self.coarser[rows])

    def applied(self, splits: Splits, made: Bits) -> Bits:
        """The splits after each change, one row a change; a split is made with the one above."""
        return self.applied_to(splits, np.tile(made, (len(self), 1)))

    def applied_to(self, splits: Splits, rows: Bits) -> Bits:
        """The same where each change has a scheme of its own, whose row is overwritten."""
        undone, done = np.flatnonzero(self.coarser >= 0), np.flatnonzero(self.finer >= 0)
        rows[undone, self.coarser[undone]] = False
        rows[done, self.finer[done]] = True
        above = splits.above[self.finer[done]]
        rows[done[above >= 0], above[above >= 0]] = True
        return rows


def columns_of(space: Space, splits: Splits) -> tuple[Ints, Bits]:
    """The column of each split, and whether its cuts are free: those of contiguous columns."""
    column = np.zeros(len(splits), dtype=np.int64)
    column[splits.at] = np.repeat(
        np.arange(len(space.columns)), [c.positions for c in space.columns]
    )
    contiguous = np.array([c.family is Family.CONTIGUOUS for c in space.columns], dtype=bool)
    return column, contiguous[column]
