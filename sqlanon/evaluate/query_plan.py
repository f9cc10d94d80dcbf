"""Plans which schemes of a batch share a query.

Schemes that cut at few common places see few distinct rows: rolling the histogram up to
their common refinement first makes every one of them cheaper. A group of schemes costs

    QUERY + rows + (schemes in the group) · (rows of the common refinement)

in row operations when rolled up, and QUERY + schemes · rows when not. The plan sorts the
schemes so that similar ones are neighbours and finds the cheapest way to cut the sorted
list along a binary tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.domain import Bits
from sqlanon.evaluate.coding import Numbers
from sqlanon.evaluate.layout import MAX_CANDIDATES, Layout

QUERY = 30_000
"""The fixed cost of a query, in rows that could be grouped in the same time."""
CORRELATION = 0.7
"""Columns are correlated: of g1·g2·… possible classes about this power of them occur."""
FEW = 4
"""Up to this many schemes always share a query: a plan would cost more than it saves."""
SHARES = 2
"""Work worth sharing is cut into at least this many parts, each for a worker."""
MAX_CLASSES = 20_000_000
"""Bounds the classes that one query may have to hold in memory."""
AT_LEAST, MOST_WORK = 16, 2_000_000
"""One query takes so many schemes if there are, and more only within so many row operations: a
search shows life and can end between queries, and what they cost by themselves is little then."""
MAX_LISTED = 2_000_000
"""Bounds the classes that one query may have to list."""


@dataclass(frozen=True)
class Group:
    """Schemes of a batch that are evaluated by one query."""

    members: Numbers
    rolled_up: bool


def plan(
    layout: Layout, kept: Bits, ids: Numbers, rows: int, classes: int = MAX_CLASSES
) -> list[Group]:
    """Groups that together hold every scheme once; `kept` and `ids` have a row per scheme.

    A query has at most `classes` classes.

    The plan does not depend on the machine, so that the same search needs the same number of
    queries everywhere.
    """
    if len(kept) <= FEW:
        return [_whole(layout, kept, rows)]
    order = _similar_first(layout, kept, ids)
    wanted = max(AT_LEAST, MOST_WORK // max(rows, 1))
    limit = max(1, min(MAX_CANDIDATES, wanted, classes // max(rows, 1)))
    parts = -(-len(order) // limit)
    if len(order) * rows > 2 * QUERY:
        parts = max(parts, SHARES)
    groups = []
    for part in np.array_split(order, parts):
        groups += _cheapest(layout, kept[part], part, rows)
    # Coarse schemes cost less and are more often feasible, so they come first.
    return sorted(groups, key=lambda group: int(kept[group.members].sum(axis=1).min()))


def _whole(layout: Layout, kept: Bits, rows: int) -> Group:
    """Everything in one query, rolled up if that is cheaper."""
    union: Bits = np.logical_or.reduce(kept)[None, :]
    refined = _estimated_rows(layout, union, rows)[0]
    cheaper = rows + len(kept) * refined < len(kept) * rows
    return Group(np.arange(len(kept)), bool(cheaper))


def _similar_first(layout: Layout, kept: Bits, ids: Numbers) -> Numbers:
    """Orders schemes by the fineness of their columns, the widest column first."""
    fineness = layout.kept_by_column(kept).astype(np.int64)
    keys = (fineness << 32) | ids
    widest_last = np.argsort([c.width for c in layout.codings], kind="stable")
    return np.lexsort(keys[:, widest_last].T)


def _cheapest(layout: Layout, kept: Bits, members: Numbers, rows: int) -> list[Group]:
    """Bottom-up over blocks of 1, 2, 4, … neighbours: keep a block or its halves."""
    union = kept
    sizes = np.ones(len(members), dtype=np.int64)
    best = np.full(len(members), QUERY + rows, dtype=np.float64)
    choices = [np.zeros(len(members), dtype=np.int8)]
    while len(union) > 1:
        if len(union) % 2:
            union = np.concatenate([union, np.zeros((1, union.shape[1]), dtype=bool)])
            sizes, best = np.append(sizes, 0), np.append(best, 0.0)
        union = union[0::2] | union[1::2]
        sizes = sizes[0::2] + sizes[1::2]
        options = np.stack(
            [
                QUERY + sizes * float(rows),
                QUERY + rows + sizes * _estimated_rows(layout, union, rows),
                best[0::2] + best[1::2],
            ]
        )
        choices.append(options.argmin(axis=0).astype(np.int8))
        best = options.min(axis=0)
    groups: list[Group] = []
    _collect(choices, len(choices) - 1, 0, members, groups)
    return groups


def _collect(
    choices: Sequence[Numbers], level: int, block: int, members: Numbers, groups: list[Group]
) -> None:
    start, stop = block << level, min((block + 1) << level, len(members))
    if start >= stop:
        return
    if level and choices[level][block] == 2:
        _collect(choices, level - 1, 2 * block, members, groups)
        _collect(choices, level - 1, 2 * block + 1, members, groups)
        return
    groups.append(Group(members[start:stop], bool(choices[level][block] == 1)))


def _estimated_rows(layout: Layout, union: Bits, rows: int) -> Numbers:
    """About how many distinct rows a roll-up to the given cuts has."""
    kept = layout.kept_by_column(union)
    logs = np.zeros(len(union))
    for j, coding in enumerate(layout.codings):
        logs += np.log(coding.groups_by_kept[kept[:, j]])
    possible = np.exp(np.minimum(CORRELATION * logs, 60.0))
    return rows * -np.expm1(-possible / rows)
