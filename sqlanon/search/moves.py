"""The smallest changes of a scheme: one group split or two merged, a level up or down.

A move replaces the partition of one column. Contiguous columns add or remove one cut;
taxonomic ones split a node into its children or merge all children into their parent;
full-domain ones go a level up or down. Every move stays within the column's family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.model import Family
from sqlanon.scheme import Bits, Column, Space


@dataclass(frozen=True)
class Moves:
    """Moves of one scheme, as new bits of a column each."""

    refining: tuple[tuple[int, Bits], ...]
    coarsening: tuple[tuple[int, Bits], ...]


def moves_of(space: Space, bits: Bits) -> Moves:
    """All moves of a scheme given by its bits."""
    refining: list[tuple[int, Bits]] = []
    coarsening: list[tuple[int, Bits]] = []
    for j, column in enumerate(space.columns):
        part = bits[space.segment(j)]
        finer, coarser = _column_moves(column, part)
        refining += [(j, moved) for moved in finer]
        coarsening += [(j, moved) for moved in coarser]
    return Moves(tuple(refining), tuple(coarsening))


def neighbours(space: Space, bits: Bits, *, exchanges: bool) -> Bits:
    """The schemes one move away; with `exchanges` also those one refining and one coarsening
    move away, which keep the amount of generalization about the same."""
    moves = moves_of(space, bits)
    found = [_moved(space, bits, [move]) for move in (*moves.refining, *moves.coarsening)]
    if exchanges:
        for finer in moves.refining:
            for coarser in moves.coarsening:
                combined = _combined(space, bits, finer, coarser)
                if combined is not None:
                    found.append(combined)
    if not found:
        return np.zeros((0, len(bits)), dtype=bool)
    return np.unique(np.stack(found), axis=0)


def _combined(
    space: Space, bits: Bits, finer: tuple[int, Bits], coarser: tuple[int, Bits]
) -> Bits | None:
    if finer[0] != coarser[0]:
        return _moved(space, bits, [finer, coarser])
    if space.columns[finer[0]].family is not Family.CONTIGUOUS:
        return None  # two moves in one tree need not make a partition of it
    # A cut moved to another place: what one adds, without what the other removes.
    part = bits[space.segment(finer[0])]
    return _moved(space, bits, [(finer[0], finer[1] & ~(part & ~coarser[1]))])


def _moved(space: Space, bits: Bits, moves: Sequence[tuple[int, Bits]]) -> Bits:
    changed = bits.copy()
    for j, part in moves:
        changed[space.segment(j)] = part
    return changed


def _column_moves(column: Column, part: Bits) -> tuple[list[Bits], list[Bits]]:
    if column.family is Family.CONTIGUOUS:
        return _contiguous_moves(column, part)
    if column.family is Family.FULL_DOMAIN:
        return _level_moves(column, part)
    return _node_moves(column, part)


def _contiguous_moves(column: Column, part: Bits) -> tuple[list[Bits], list[Bits]]:
    """One cut more or less; NULL's cut is a move of its own only when it is the last one."""
    has_null = column.domain.has_null
    finer: list[Bits] = []
    coarser: list[Bits] = []
    for position in range(len(part)):
        changed = part.copy()
        changed[position] ^= True
        if has_null and position == len(part) - 1 and part[:-1].any():
            continue
        if has_null and changed[:-1].any():
            changed[-1] = True
        (coarser if part[position] else finer).append(changed)
    return finer, coarser


def _level_moves(column: Column, part: Bits) -> tuple[list[Bits], list[Bits]]:
    distinct = list(dict.fromkeys(column.levels))
    here = next(i for i, level in enumerate(distinct) if (level.bits == part).all())
    finer = [distinct[here - 1].bits] if here else []
    coarser = [distinct[here + 1].bits] if here + 1 < len(distinct) else []
    return finer, coarser


def _node_moves(column: Column, part: Bits) -> tuple[list[Bits], list[Bits]]:
    """Splits of groups that are inner nodes, merges of children that are all groups."""
    finer: list[Bits] = []
    coarser: list[Bits] = []
    for start, stop, inner in inner_nodes(column):
        inside = part[start : stop - 1]
        if not inside.any() and _is_group(part, start, stop):
            changed = part.copy()
            changed[inner] = True
            finer.append(changed)
        elif (np.flatnonzero(inside) + start).tolist() == inner:
            changed = part.copy()
            changed[inner] = False
            coarser.append(changed)
    return finer, coarser


def _is_group(part: Bits, start: int, stop: int) -> bool:
    """Whether atoms start..stop-1, uncut inside, are bounded by cuts or ends on both sides."""
    left = start == 0 or bool(part[start - 1])
    right = stop - 1 == len(part) or bool(part[stop - 1])
    return left and right


def inner_nodes(column: Column) -> list[tuple[int, int, list[int]]]:
    """Inner nodes as atom ranges with the cuts between their children.

    Where there is NULL, the whole column has two children: the tree of the values, and NULL.
    """
    width = column.domain.width
    found = [(0, column.size, [width - 1])] if column.domain.has_null and width else []
    if column.hierarchy is None:
        return [*found, (0, width, list(range(width - 1)))] if width > 1 else found
    for node in column.hierarchy.nodes():
        children = column.hierarchy.children(node)
        if children:
            cuts = [child.stop - 1 for child in children[:-1]]
            found.append((node.start, node.stop, cuts))
    return found
