"""Schemes around a scheme, laid out and scored one and all."""

from __future__ import annotations

from sqlanon.domain.column import Bits
from sqlanon.domain.space import Space
from sqlanon.search.local.polish import RankedScheme, exchanges_of, moves, place_of
from sqlanon.search.problem import Problem
from sqlanon.search.splits import Splits


def neighbours(space: Space, bits: Bits, *, exchanges: bool) -> Bits:
    """The schemes one move away, or those one exchange away, the coarsening moves first."""
    splits = Splits.of_space(space)
    made = splits.made(bits)
    changes = exchanges_of(space, made) if exchanges else moves(space, made)
    return splits.bits(changes.applied(splits, made))


def best_of(problem: Problem, bits: Bits) -> RankedScheme:
    """The best of some schemes, the first of equals."""
    return place_of(problem, bits, problem.evaluate(problem.space.batch_of_bits(bits)))
