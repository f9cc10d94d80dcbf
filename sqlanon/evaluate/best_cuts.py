"""A cut tree, level by level: one query finds the best cut of every open node at once.

The rows are those of the histogram, in an embedded DuckDB. A column may be cut at some places
only; what lies between two of them is a segment. What makes a side large enough, and whether it
satisfies the models, is computed as for other schemes, on prefix sums over the segments of a node.

A region loses what its own size says, or only what the box around its rows says.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from sqlanon.domain import CutTree, Histogram, Ints, Regions
from sqlanon.engines import Tracer
from sqlanon.engines.duckdb import counting_memory
from sqlanon.engines.statements import keeping_interrupts
from sqlanon.errors import EvaluationError
from sqlanon.evaluate.constraints import FewValues, constraints_for
from sqlanon.evaluate.scoring_sql import bigint, column
from sqlanon.evaluate.value_counts import Demands
from sqlanon.render import NATIVE, render

PRICES = 2**30
"""What a row costs that tells nothing: the prices of atoms are whole numbers of this unit."""
BEFORE, AFTER = "before", "after"
ROWS, MOVERS = "open_rows", "open_movers"


@dataclass(frozen=True)
class Care:
    """How carefully a cut is chosen.

    shortlist   so many cuts of a node are compared by the loss of the boxes on both sides in all
                columns; 0: the loss in the column that is cut decides
    lookahead   so many of these are compared by what the best next cuts of both sides gain too
    within      they are, as long as a level has no more open nodes than this
    """

    shortlist: int = 8
    lookahead: int = 2
    within: int = 64


@dataclass(frozen=True)
class CutColumn:
    """A column as cuts see it.

    starts  the first atom of every segment, 0 first; the column may be cut at all others
    forced  those of them at which every region is cut
    weight  its share in the loss, above 0
    """

    starts: Ints
    forced: tuple[int, ...] = ()
    weight: float = 1.0


class BestCuts:
    """Finds cut trees of one histogram whose regions have at least k people and hold the models.

    With `boxed` what is released of a region is the box around its rows: from the first segment
    that occurs in it to the last, in every column.
    """

    def __init__(
        self,
        histogram: Histogram,
        columns: Sequence[CutColumn],
        demands: Demands,
        workers: int | None = None,
        *,
        boxed: bool = False,
        care: Care | None = None,
    ) -> None:
        self._histogram = histogram
        self._boxed = boxed
        self._care = care or Care()
        self._columns = tuple(columns)
        self._k = demands.below
        constraints = constraints_for(histogram, demands, None)
        if constraints is not None and not isinstance(constraints, FewValues):
            raise EvaluationError(
                "multidimensional recoding counts every sensitive value of a node, and there are "
                "too many; take recoding global, or cast the column to coarser values"
            )
        self._constraints = constraints
        self.tracer = Tracer()
        self.queries = 0
        self._connection = counting_memory(threads=workers or os.cpu_count() or 1)

    def close(self) -> None:
        """Lets the database go."""
        self._connection.close()

    def tree(self, goes_on: Callable[[int], bool] = lambda nodes: True) -> CutTree:
        """The tree of the best cut of every node, until no node can be cut.

        `goes_on` hears after every level how many nodes there are, and may end it.
        """
        growing = _Growing(self._histogram, self._columns)
        self._load(growing)
        while True:
            open_ = growing.open_nodes
            if not len(open_):
                break
            ahead = self._care.lookahead if len(open_) <= self._care.within else 1
            found = self._fetch(self._best(ahead), growing.bounds(open_))
            if not len(found["node"]):
                break
            if ahead > 1:
                found = self._ahead(growing, found)
            self._cut_rows(growing.cut(found, self._k))
            if not goes_on(growing.nodes):
                break
        tree = growing.tree()
        return replace(tree, boxes=self._boxes(tree)) if self._boxed else tree

    def _ahead(self, growing: _Growing, found: Mapping[str, Ints]) -> dict[str, Ints]:
        """By node the cut that gains most together with the best next cuts of its sides.

        Each cut is tried on a copy of the node's rows: its sides are numbered 2n and 2n + 1.
        """
        number = np.arange(len(found["node"]))
        sides = {"first": 2 * number, "second": 2 * number + 1}
        large = {
            f"{side}_open": found[f"{size}_size"] >= 2 * self._k
            for side, size in (("first", BEFORE), ("second", AFTER))
        }
        tried = {name: found[name] for name in ("node", "col", "segment")} | sides | large
        for table in self._moved:
            self._run(f"CREATE TABLE kept_{table} AS FROM {table}")
        self._cut_rows(tried)
        bounds = growing.bounds_of(growing.halves(found))
        after = self._fetch(self._best(1), bounds)
        for table in self._moved:
            self._run(f"DROP TABLE {table}")
            self._run(f"ALTER TABLE kept_{table} RENAME TO {table}")
        gain = found["gain"].copy()
        np.add.at(gain, after["node"] // 2, after["gain"])
        best = np.lexsort([number, -gain, found["node"]])
        first = best[np.unique(found["node"][best], return_index=True)[1]]
        return {name: values[first] for name, values in found.items()}

    @property
    def _moved(self) -> dict[str, list[str]]:
        """The tables whose rows go on to the sides of a cut, with what they keep."""
        return {ROWS: [*self._kinds]} | ({MOVERS: ["mover"]} if self._moves else {})

    def _boxes(self, tree: CutTree) -> Regions:
        """The boxes around the rows of every region, if these are enough people to be released."""
        tally = self._histogram.tally
        region = tree.region_of(tally.codes)
        people = np.bincount(region, tally.people * (tally.mover < 0), len(tree.regions.node))
        pairs = np.column_stack([region, tally.mover])[tally.mover >= 0]
        people += np.bincount(np.unique(pairs, axis=0)[:, 0], minlength=len(people))
        low, high = (
            np.full_like(tree.regions.low, np.iinfo(np.int64).max),
            np.zeros_like(tree.regions.high),
        )
        places = enumerate(zip(self._columns, self._histogram.space.columns, strict=True))
        for j, (each, column_) in places:
            segment = np.searchsorted(each.starts, tally.codes[:, j], side="right") - 1
            np.minimum.at(low[:, j], region, each.starts[segment])
            np.maximum.at(high[:, j], region, np.append(each.starts[1:], column_.size)[segment])
            width = column_.domain.width
            low[(low[:, j] < width) & (high[:, j] > width), j] = 0  # NULL and values: all of them
        kept = np.flatnonzero(people >= self._k)
        return Regions(tree.regions.node[kept], low[kept], high[kept])

    def _load(self, growing: _Growing) -> None:
        codes, counters = self._counted
        segments = self._segments(codes)
        rows = {"node": growing.node_of(codes), **segments, **counters}
        if self._moves:
            self._load_movers(growing)
        self._connection.register("incoming", rows)
        keys = ["node", *segments]
        grouped = render("evaluate/open_rows.sql", dialect=NATIVE, keys=keys, counted=self._added)
        self._run(f"CREATE TABLE open_rows AS\n{grouped}")
        self._connection.unregister("incoming")
        sizes = [c.size for c in self._histogram.space.columns]
        edges = [
            (j, segment, atom, after - 1)
            for j, each in enumerate(self._columns)
            for segment, (atom, after) in enumerate(pairwise([*each.starts.tolist(), sizes[j]]))
        ]
        names = ("col", "segment", "atom", "last_atom")
        self._table("edges", dict(zip(names, np.array(edges, dtype=np.int64).T, strict=True)))
        self._table("columns", self._column_table)

    def _segments(self, codes: Ints) -> dict[str, npt.NDArray[np.integer]]:
        return {
            f"v{j}": (np.searchsorted(each.starts, codes[:, j], side="right") - 1).astype(np.int32)
            for j, each in enumerate(self._columns)
        }

    @property
    def _moves(self) -> bool:
        """Whether people have rows in several tuples, so that they cannot be added up."""
        return self._histogram.tally.has_movers

    def _load_movers(self, growing: _Growing) -> None:
        tally = self._histogram.tally
        codes = tally.codes[tally.mover >= 0].astype(np.int64)
        movers = {"node": growing.node_of(codes), **self._segments(codes)}
        self._table(MOVERS, movers | {"mover": tally.mover[tally.mover >= 0]})

    @property
    def _column_table(self) -> dict[str, Ints]:
        columns = self._histogram.space.columns
        whole = sum(each.weight for each in self._columns)
        prices = [
            round(PRICES * each.weight / whole / max(c.size - 1, 1))
            for c, each in zip(columns, self._columns, strict=True)
        ]
        nulls = [
            len(each.starts) - 1 if c.domain.has_null and c.domain.width else -1
            for c, each in zip(columns, self._columns, strict=True)
        ]
        found = {"col": range(len(columns)), "price": prices, "null_segment": nulls}
        found["last_atom"] = [c.size - 1 for c in columns]
        return {name: np.array(values, dtype=np.int64) for name, values in found.items()}

    @cached_property
    def _counted(self) -> tuple[Ints, Mapping[str, npt.NDArray[np.integer]]]:
        if self._constraints is not None:
            codes, counters = self._constraints.counted
            return codes.astype(np.int64), counters
        tally = self._histogram.tally
        found = {"size": tally.people.astype(np.int64)}
        if self._histogram.subject is not None:
            found["n_rows"] = tally.rows.astype(np.int64)
        return tally.codes.astype(np.int64), found

    @cached_property
    def _kinds(self) -> Mapping[str, type[exp.Func]]:
        if self._constraints is not None:
            return self._constraints.counters
        return dict.fromkeys(self._counted[1], exp.Sum)

    @property
    def _added(self) -> dict[str, exp.Expr]:
        return {name: bigint(kind(this=column(name))) for name, kind in self._kinds.items()}

    def _sides(self, cells: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
        """Cells of a class for either side of a cut."""
        return {
            f"{side}_{name}": _of_side(cell, side)
            for side in (BEFORE, AFTER)
            for name, cell in cells.items()
        }

    def _best(self, most: int) -> str:
        """The query for so many best cuts of every node."""
        places = range(len(self._columns))
        number = {j: exp.Literal.number(j) for j in places}
        is_grouped = {
            j: exp.EQ(this=exp.func("GROUPING", column(f"v{j}")), expression=exp.Literal.number(0))
            for j in places
        }
        unpacked: dict[str, exp.Expr] = {"size": column("size"), "n_rows": column("n_rows")}
        if self._histogram.subject is None:
            unpacked["n_rows"] = column("size")
        measured: dict[str, exp.Expr] = {}
        violated: exp.Expr = column("size") < self._k
        if self._constraints is not None:
            unpacked, measured = self._constraints.unpacked, self._constraints.statistics
            violated = self._constraints.violated
        added = {
            f"{side}_{name}": bigint(
                exp.Window(this=kind(this=column(name)), alias=exp.to_identifier(side))
            )
            for side in (BEFORE, AFTER)
            for name, kind in self._kinds.items()
        }
        if self._moves:
            unpacked = {**unpacked, "size": unpacked["size"] + column("moving")}
            for side, ends in ((BEFORE, "n_first"), (AFTER, "n_last")):
                people = exp.Coalesce(this=column(ends), expressions=[exp.convert(0)])
                total = exp.Window(this=exp.Sum(this=people), alias=exp.to_identifier(side))
                added[f"{side}_moving"] = bigint(total)
        both = [_of_side(violated, side) for side in (BEFORE, AFTER)]
        template = "best_boxes" if self._care.shortlist else "best_boxes_quickly"
        return render(
            f"evaluate/{template if self._boxed else 'best_cuts'}.sql",
            most=most,
            **self._of_boxes(),
            dialect=NATIVE,
            column=exp.Case(ifs=[exp.If(this=is_grouped[j], true=number[j]) for j in places]),
            segment=exp.func("COALESCE", *(column(f"v{j}") for j in places)),
            counted=self._added,
            moves=self._moves,
            numbers=exp.Array(expressions=list(number.values())),
            first=exp.Array(expressions=[column(f"first_{j}") for j in places]),
            last=exp.Array(expressions=[column(f"last_{j}") for j in places]),
            first_and_last={
                f"{name}_{j}": kind(this=column(f"v{j}"))
                for j in places
                for name, kind in (("first", exp.Min), ("last", exp.Max))
            },
            sets=[exp.Tuple(expressions=[column("node"), column(f"v{j}")]) for j in places],
            before_and_after=added,
            unpacked=self._sides(unpacked),
            measured=self._sides(measured) or {"is_measured": exp.true()},
            violated=exp.or_(*both),
        )

    def _of_boxes(self) -> dict[str, object]:
        """What best_boxes.sql compares cuts by."""
        places = range(len(self._columns))
        prices, nulls = (self._column_table[name] for name in ("price", "null_segment"))
        losses = []
        for j, each in enumerate(self._columns):
            low, high = column(f"low_{j}"), column(f"high_{j}")
            last = self._histogram.space.columns[j].size - 1
            ends = np.append(each.starts[1:], last + 1) - 1
            extent: exp.Expr = _listed(ends, high) - _listed(each.starts, low)
            if nulls[j] >= 0:
                mixed = exp.and_(
                    exp.EQ(this=high, expression=exp.convert(nulls[j].item())),
                    low < nulls[j].item(),
                )
                extent = exp.Case(ifs=[exp.If(this=mixed, true=exp.convert(last))], default=extent)
            losses.append(exp.paren(extent) * prices[j].item())
        return {
            "shortlist": self._care.shortlist,
            "own_segment": self._own_segment("shortlist", ROWS),
            "ends": {
                f"{name}_{j}": kind(this=column(f"v{j}"))
                for j in places
                for name, kind in (("low", exp.Min), ("high", exp.Max))
            },
            "loss": reduce(operator.add, losses),
        }

    def _own_segment(self, cuts: str, table: str) -> exp.Expr:
        """The segment of a row in the column of its node's cut."""
        ifs = [
            exp.If(this=exp.Literal.number(j), true=column(f"v{j}", table))
            for j in range(len(self._columns))
        ]
        return exp.Case(this=column("col", cuts), ifs=ifs)

    def _cut_rows(self, chosen: Mapping[str, npt.NDArray[Any]]) -> None:
        """Moves the rows to the new nodes of the chosen cuts."""
        self._table("chosen", chosen)
        for table, kept in self._moved.items():
            segment = self._own_segment("chosen", table)
            names = [*(f"v{j}" for j in range(len(self._columns))), *kept]
            moved = render(
                "evaluate/cut_rows.sql", dialect=NATIVE, table=table, segment=segment, kept=names
            )
            self._run(f"CREATE OR REPLACE TABLE next_rows AS\n{moved}")
            self._run(f"DROP TABLE {table}")
            self._run(f"ALTER TABLE next_rows RENAME TO {table}")

    def _table(self, name: str, columns: Mapping[str, object]) -> None:
        self._connection.register("incoming", dict(columns))
        self._run(f"CREATE OR REPLACE TABLE {name} AS FROM incoming")
        self._connection.unregister("incoming")

    def _run(self, statement: str) -> None:
        with keeping_interrupts(), self.tracer.running(statement):
            self._connection.execute(statement)

    def _fetch(self, statement: str, bounds: Mapping[str, Ints]) -> dict[str, Ints]:
        """The best cuts of the open nodes, whose atoms are within the bounds."""
        if not self._boxed:
            self._table("bounds", bounds)
        self.queries += 1
        with keeping_interrupts(), self.tracer.running(statement) as running:
            fetched = self._connection.execute(statement).fetchnumpy()
            running.rows = len(fetched["node"])
        return {name: np.asarray(values, dtype=np.int64) for name, values in fetched.items()}


def _listed(atoms: Ints, segment: exp.Expr) -> exp.Expr:
    """The atom of a segment in a list by segments."""
    if np.array_equal(atoms, np.arange(len(atoms))):
        return segment
    listed = exp.Array(expressions=[exp.Literal.number(atom) for atom in atoms.tolist()])
    return exp.func("LIST_EXTRACT", listed, segment + 1)


def _of_side(cell: exp.Expr, side: str) -> exp.Expr:
    """A cell that reads the columns of one side of a cut."""
    found = cell.copy()
    for read in [found] if isinstance(found, exp.Column) else list(found.find_all(exp.Column)):
        read.set("this", exp.to_identifier(f"{side}_{read.name}", quoted=True))
    return found


class _Growing:
    """A tree while it grows: the splits so far, and the atoms of its leaves."""

    def __init__(self, histogram: Histogram, columns: Sequence[CutColumn]) -> None:
        self._columns = columns
        self._names = [c.name for c in histogram.space.columns]
        self._sizes = [c.size for c in histogram.space.columns]
        self._widths = [
            c.domain.width if c.domain.has_null else c.size for c in histogram.space.columns
        ]
        self._splits: list[tuple[int, int, int, int, int]] = []
        self._last = 1
        self._bounds = {1: [(0, size) for size in self._sizes]}
        self._open: list[int] = []
        self._force()

    @property
    def nodes(self) -> int:
        return self._last

    @property
    def open_nodes(self) -> list[int]:
        """The nodes that may be cut."""
        return self._open

    def _force(self) -> None:
        """Cuts at the places that every region is cut at."""
        for j, each in enumerate(self._columns):
            leaves = list(self._bounds)
            for node in leaves:
                rest = node
                for at in sorted(each.forced):
                    _, rest = self._split(rest, j, at)
        self._open = list(self._bounds)

    def _split(self, node: int, j: int, at: int) -> tuple[int, int]:
        first, second = self._last + 1, self._last + 2
        self._last = second
        self._splits.append((node, j, at, first, second))
        bounds = self._bounds.pop(node)
        low, high = bounds[j]
        self._bounds[first] = [*bounds[:j], (low, at), *bounds[j + 1 :]]
        self._bounds[second] = [*bounds[:j], (at, high), *bounds[j + 1 :]]
        return first, second

    def node_of(self, codes: Ints) -> Ints:
        """The open node of every tuple, before the first level."""
        tree = self.tree()
        return tree.regions.node[tree.region_of(codes)]

    def bounds(self, nodes: Sequence[int]) -> dict[str, Ints]:
        """The atoms of some nodes, a row per node and column."""
        return self.bounds_of({node: self._bounds[node] for node in nodes})

    def halves(self, found: Mapping[str, Ints]) -> dict[int, list[tuple[int, int]]]:
        """The atoms of both sides of some cuts, numbered 2n and 2n + 1, without empty NULL."""
        halves = {}
        rows = zip(*(found[name].tolist() for name in ("node", "col", "segment")), strict=True)
        for number, (node, j, segment) in enumerate(rows):
            at, bounds = int(self._columns[j].starts[segment]), self._bounds[node]
            low, high = bounds[j]
            high = min(high, self._widths[j]) if at < self._widths[j] else high
            halves[2 * number] = [*bounds[:j], (low, at), *bounds[j + 1 :]]
            halves[2 * number + 1] = [*bounds[:j], (at, high), *bounds[j + 1 :]]
        return halves

    def bounds_of(self, nodes: Mapping[int, Sequence[tuple[int, int]]]) -> dict[str, Ints]:
        """The atoms of some nodes as a table."""
        table = np.array([*nodes.values()], dtype=np.int64)
        count = len(self._sizes)
        return {
            "node": np.repeat(np.array([*nodes], dtype=np.int64), count),
            "col": np.tile(np.arange(count, dtype=np.int64), len(nodes)),
            "low": table[:, :, 0].ravel(),
            "high": table[:, :, 1].ravel(),
        }

    def cut(self, found: Mapping[str, Ints], k: int) -> dict[str, Ints]:
        """Makes the cuts, and says where the rows of each node go on.

        NULL that a node has room for, but no rows, is parted from the values first.
        """
        chosen, open_ = [], []
        names = ("node", "col", "segment", "before_size", "after_size")
        rows = zip(*(found[name].tolist() for name in names), strict=True)
        for node, j, segment, before, after in rows:
            at = int(self._columns[j].starts[segment])
            rest = node
            if at < self._widths[j] < self._bounds[node][j][1]:
                rest, _ = self._split(node, j, self._widths[j])
            first, second = self._split(rest, j, at)
            is_open = [number >= 2 * k for number in (before, after)]
            chosen.append((node, j, segment, first, second, *is_open))
            open_ += [each for each, may in zip((first, second), is_open, strict=True) if may]
        self._open = open_
        names = ("node", "col", "segment", "first", "second")
        columns = list(zip(*chosen, strict=True))
        table = {n: np.array(c, dtype=np.int64) for n, c in zip(names, columns, strict=False)}
        for name, may in zip(("first_open", "second_open"), columns[-2:], strict=True):
            table[name] = np.array(may, dtype=bool)
        return table

    def tree(self) -> CutTree:
        return CutTree.of(self._names, self._sizes, self._splits)
