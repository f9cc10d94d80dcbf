"""Cut trees by their definition, row by row: slow, obvious, independent.

Nothing here knows the package. Splits are those of a scheme file. A column is the list of its
values in the order of its atoms, NULL last where it has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

Splits = Mapping[str, Sequence[object]]
Domains = Mapping[str, Sequence[object]]
Row = Mapping[str, object]


def goes_first(cell: object, condition: str, value: object) -> bool:
    """Whether what is in a cell meets the condition of a split."""
    if condition == "not null":
        return cell is not None
    if cell is None:
        return False
    if condition == "<":
        return bool(cell < value)  # type: ignore[operator]
    assert isinstance(value, list)
    return (cell in value) == (condition == "in")


def node_of(row: Row, splits: Splits) -> int:
    """The node at which a row stays."""
    node = 1
    while str(node) in splits:
        name, condition, value, first, second = splits[str(node)]
        assert isinstance(first, int)
        assert isinstance(second, int)
        node = first if goes_first(row[str(name)], str(condition), value) else second
    return node


def regions(splits: Splits, domains: Domains) -> dict[int, dict[str, frozenset[object]]]:
    """By node the values that its rows may have in each column, over all possible rows."""
    found: dict[int, dict[str, set[object]]] = {}
    for cells in product(*domains.values()):
        row = dict(zip(domains, cells, strict=True))
        boxes = found.setdefault(node_of(row, splits), {name: set() for name in domains})
        for name, cell in row.items():
            boxes[name].add(cell)
    return {n: {name: frozenset(v) for name, v in box.items()} for n, box in found.items()}


def nwp(rows: Sequence[Row], splits: Splits, domains: Domains, suppressed: set[int]) -> Fraction:
    """The mean share of its domain that a cell's region leaves open; suppressed rows lose all.

    `suppressed` are nodes whose rows are left out.
    """
    boxes = regions(splits, domains)
    total = Fraction(0)
    for row in rows:
        node = node_of(row, splits)
        for name, values in domains.items():
            share = Fraction(len(boxes[node][name]) - 1, max(len(values) - 1, 1))
            total += Fraction(1) if node in suppressed else share
    return total / (len(rows) * len(domains))


def sizes(rows: Sequence[Row], splits: Splits) -> Counter[int]:
    """The rows of each node that has any."""
    return Counter(node_of(row, splits) for row in rows)


Tuple = tuple[int, ...]


def greedy_regions(
    rows: Sequence[Tuple], widths: Sequence[int], starts: Sequence[Sequence[int]], k: int
) -> set[tuple[tuple[int, int], ...]]:
    """The boxes with rows that cutting, each time where it takes most off the loss, ends with.

    Rows are tuples of atoms without NULL; `starts` has by column the atoms at which a part may
    begin. Of equal cuts it is that of the first column, then the first.
    """
    waiting, found = [tuple((0, width) for width in widths)], set()
    while waiting:
        box = waiting.pop()
        inside = [
            row
            for row in rows
            if all(low <= a < high for a, (low, high) in zip(row, box, strict=True))
        ]
        best: tuple[Fraction, int, int] | None = None
        for j, (low, high) in enumerate(box):
            for at in starts[j]:
                before = sum(row[j] < at for row in inside)
                after = len(inside) - before
                if not low < at < high or before < k or after < k:
                    continue
                gain = Fraction(before * (high - at) + after * (at - low), max(widths[j] - 1, 1))
                if best is None or gain > best[0]:
                    best = gain, j, at
        if best is None:
            found.add(box)
            continue
        _, j, at = best
        low, high = box[j]
        waiting += [(*box[:j], (low, at), *box[j + 1 :]), (*box[:j], (at, high), *box[j + 1 :])]
    return found


Box = tuple[tuple[int, int], ...]


def box_around(
    rows: Sequence[Tuple], starts: Sequence[Sequence[int]], widths: Sequence[int]
) -> Box:
    """The smallest box around some rows whose ends are among `starts` or the ends of a column."""
    ends = []
    for j, width in enumerate(widths):
        low = max(at for at in (0, *starts[j]) if at <= min(row[j] for row in rows))
        high = min(at for at in (*starts[j], width) if at > max(row[j] for row in rows))
        ends.append((low, high))
    return tuple(ends)


def loss_of_box(number: int, box: Box, widths: Sequence[int]) -> Fraction:
    """What so many rows lose in a box, summed over the columns."""
    shares = (Fraction(b - a - 1, max(w - 1, 1)) for (a, b), w in zip(box, widths, strict=True))
    return number * sum(shares, Fraction(0))


def _cuts(
    inside: Sequence[Tuple], widths: Sequence[int], starts: Sequence[Sequence[int]], k: int
) -> list[tuple[Fraction, list[Tuple], list[Tuple]]]:
    """What every cut takes off the loss, and its sides, in the order of columns and places."""

    def loss(rows: Sequence[Tuple]) -> Fraction:
        return loss_of_box(len(rows), box_around(rows, starts, widths), widths)

    found = []
    for j in range(len(widths)):
        for at in starts[j]:
            one, other = [r for r in inside if r[j] < at], [r for r in inside if r[j] >= at]
            if min(len(one), len(other)) >= k:
                found.append((loss(inside) - loss(one) - loss(other), one, other))
    return found


def greedy_boxes(
    rows: Sequence[Tuple],
    widths: Sequence[int],
    starts: Sequence[Sequence[int]],
    k: int,
    *,
    ahead: bool = False,
) -> Counter[Box]:
    """The boxes, with their rows, that cutting ends with where each cut takes most off the loss.

    With `ahead` a cut counts together with the best next cuts of its sides. Rows are tuples of
    atoms without NULL. Of equal cuts it is the one that takes more off by itself, then that of the
    first column, then the first.
    """
    waiting, found = [list(rows)], Counter[Box]()
    while waiting:
        inside = waiting.pop()
        cuts = sorted(_cuts(inside, widths, starts, k), key=lambda cut: -cut[0])
        if not cuts:
            found[box_around(inside, starts, widths)] += len(inside)
            continue

        def gain(cut: tuple[Fraction, list[Tuple], list[Tuple]]) -> Fraction:
            if not ahead:
                return cut[0]
            next_ = (max((c[0] for c in _cuts(s, widths, starts, k)), default=0) for s in cut[1:])
            return cut[0] + sum(next_)

        waiting += max(cuts, key=gain)[1:]
    return found
