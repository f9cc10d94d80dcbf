"""The privacy models in plain Python, from their definitions, for small tables.

Nothing is shared with the package. Classes are dictionaries from a value to the set of people who
have it; numbers are fractions as long as there is no logarithm in them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
from audit_twin import key

Value = Hashable
Shares = Mapping[Value, Fraction]
Tree = Any
"""A leaf is its value, an inner node a tuple of trees."""


@dataclass(frozen=True)
class Class:
    rows: int
    people: int
    counts: Counter[Value]

    @property
    def shares(self) -> Shares:
        return shares(self.counts)


def shares(counts: Mapping[Value, int]) -> Shares:
    n = sum(counts.values())
    return {value: Fraction(number, n) for value, number in counts.items()}


def classes_of(
    table: pa.Table, quasi: Sequence[str], subject: str | None, sensitive: str
) -> list[Class]:
    """NULL is a value, all NaN are one, -0.0 is 0.0 (see audit_twin.key)."""
    rows = table.to_pylist()
    found: dict[Value, list[tuple[Value, Value]]] = {}
    for number, row in enumerate(rows):
        person = number if subject is None else key(row[subject])
        name = tuple(key(row[each]) for each in quasi)
        found.setdefault(name, []).append((person, key(row[sensitive])))
    return [
        Class(
            len(pairs),
            len({person for person, _ in pairs}),
            Counter(value for _, value in set(pairs)),
        )
        for pairs in found.values()
    ]


def whole_of(table: pa.Table, subject: str | None, sensitive: str) -> Counter[Value]:
    """People by value, over all rows of a table."""
    if not table.num_rows:
        return Counter()
    (one,) = classes_of(
        table.append_column("all", pa.nulls(len(table))), ["all"], subject, sensitive
    )
    return one.counts


def in_order(tables: Sequence[pa.Table], column: str) -> list[Value]:
    """The distinct values of a column in ascending order, NaN after all numbers, NULL last."""
    cells = {key(cell): cell for table in tables for cell in table[column].to_pylist()}

    def rank(cell: Any) -> tuple[int, Any]:
        if cell is None:
            return (2, 0)
        return (1, 0) if isinstance(cell, float) and math.isnan(cell) else (0, cell)

    return sorted(cells, key=lambda each: rank(cells[each]))


def distinct(each: Class) -> float:
    return len(each.counts)


def perplexity(each: Class) -> float:
    return math.exp(-math.fsum(float(p) * math.log(p) for p in each.shares.values()))


def recursive(each: Class, l: int) -> float:  # noqa: E741
    r = sorted(each.counts.values(), reverse=True)
    rest = sum(r[l - 1 :])
    return r[0] / rest if rest else math.inf


def share(each: Class) -> float:
    return max(each.counts.values()) / each.people


def equal(each: Class, q: Shares) -> float:
    p = each.shares
    return float(sum(abs(p.get(v, 0) - q.get(v, 0)) for v in {*p, *q}) / 2)


def ordered(each: Class, q: Shares, values: Sequence[Value]) -> float:
    if len(values) == 1:
        return 0.0
    p, moved, carried = each.shares, Fraction(0), Fraction(0)
    for v in values:
        carried += p.get(v, Fraction(0)) - q.get(v, Fraction(0))
        moved += abs(carried)
    return float(moved / (len(values) - 1))


def hierarchical(each: Class, q: Shares, tree: Tree, height: int) -> float:
    """The recursion of Li, Li and Venkatasubramanian (2007), section 4.3."""
    p = each.shares
    total = Fraction(0)

    def extra(node: Tree, level: int) -> Fraction:
        nonlocal total
        if not isinstance(node, tuple):
            return p.get(node, Fraction(0)) - q.get(node, Fraction(0))
        below = [extra(child, level - 1) for child in node]
        positive = sum((x for x in below if x > 0), Fraction(0))
        negative = -sum((x for x in below if x < 0), Fraction(0))
        total += Fraction(level, height) * min(positive, negative)
        return sum(below, Fraction(0))

    extra(tree, height)
    return float(total)


def gain(each: Class, q: Shares) -> float:
    return max(float((p - q[v]) / q[v]) if q.get(v) else math.inf for v, p in each.shares.items())


def ratio(each: Class, q: Shares) -> float:
    p = each.shares
    if {*p} != {v for v in q if q[v]}:
        return math.inf
    return max(abs(math.log(p[v] / q[v])) for v in p)


def violating(
    classes: Sequence[Class], reached: Callable[[Class], float], fails: Callable[[float], bool]
) -> tuple[int, int, int]:
    """Classes, rows and people where a bound does not hold."""
    bad = [each for each in classes if fails(reached(each))]
    return len(bad), sum(each.rows for each in bad), sum(each.people for each in bad)
