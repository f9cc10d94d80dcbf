"""A cut tree as SQL: how a row finds its region, and what is released there.

A small tree is one nested CASE over the values, which a reader follows from the top. A larger one
is a list of splits that is joined once per level. Either way a list of regions has what is
released, so that every row of the source, also one that joined it later, has one region.

Where less than the whole region is released, that list has the ends of the box too, and a row
outside the box of its region finds nothing there: it is not covered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from sqlglot import exp

from sqlanon.domain import (
    NOT_IN_SCHEME,
    Cell,
    CutTree,
    Form,
    Generalized,
    IntervalDomain,
    Ints,
    Output,
    decimal_digits,
)
from sqlanon.release.generalize import (
    MOST_CASES,
    SOURCE,
    Mapping,
    Written,
    cases,
    cell,
    constant,
    in_any_group,
    is_joined,
    is_not_null,
    is_null,
    listed,
    mapping_of_intervals,
    mapping_of_values,
    value_literal,
    value_of,
)
from sqlanon.release.order import Order
from sqlanon.release.rows import (
    Names,
    aliased,
    list_cte,
    named,
    named_queries,
    of,
    read_from,
    unlike,
)
from sqlanon.render import query

MOST_READ = 40
"""A tree with more splits is written as a list, because a longer CASE is hard to read."""
REGIONS, SPLITS = "regions", "splits"


class TreeList(Mapping):
    """A list of numbers and released cells: nothing in it is a value of one column."""

    def tuples(self) -> list[exp.Tuple]:
        """The rows as SQL, made anew: two statements cannot share them."""
        return [exp.Tuple(expressions=[*map(constant, row)]) for row in self.rows]


class _Placed(Generalized):
    """A column whose groups are written as their numbers."""

    @property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The numbers of the groups that no split parts."""
        return tuple((number,) for number in range(len(self.partition)))

    @property
    def is_open(self) -> bool:
        """As the labels of the regions are: what lies beyond belongs to the outermost groups."""
        return self.open_ends


@dataclass(frozen=True)
class TreeSql:
    """The cut tree of an order, in a statement whose names are `names`.

    With `by_column` a row outside its box finds its region all the same, so that each column says
    whether it is outside.
    """

    order: Order
    tree: CutTree
    names: Names
    by_column: bool = False

    @cached_property
    def items(self) -> dict[int, Generalized]:
        """The columns that the tree cuts, by their places in it."""
        by_name = {item.name: item for item in self.order.generalized}
        return {j: by_name[self.tree.names[j]] for j in self.tree.cut_columns}

    @cached_property
    def written(self) -> dict[str, Written]:
        """By column what is released for it, read from the list of regions."""
        return {item.name: self._written(j, item) for j, item in self.items.items()}

    def _written(self, j: int, item: Generalized) -> Written:
        digits = decimal_digits(item)
        outputs = []
        found = of(self._regions.name, "region") if self.tree.has_boxes else cell(self._region)
        for name in item.released_names:
            output: exp.Expr = of(self._regions.name, name)
            if item.output is Output.LABEL and (self.tree.has_boxes or self._uncovered):
                lost = exp.If(this=is_null(found), true=exp.Literal.string(NOT_IN_SCHEME))
                output = exp.Case(ifs=[lost], default=output)
            if digits:
                decimal = exp.DataType.build(f"DECIMAL({digits[0]}, {digits[1]})")
                output = exp.cast(output, decimal)
            outputs.append(output)
        return Written(tuple(outputs), self._covered(j, item), self._regions)

    def _covered(self, j: int, item: Generalized) -> exp.Expr | None:
        """Whether the value belongs to a group, and lies in the box of the row's region."""
        covered = in_any_group(item)
        if not self.tree.has_boxes:
            return covered
        if not self.by_column:  # the list of regions has the row, or has it not
            is_first = j == next(iter(self.items))
            return is_not_null(of(self._regions.name, "region")) if is_first else None
        inside = exp.and_(*self._within(self._regions.name, j))
        inside = exp.or_(is_null(cell(self._region)), inside)
        return inside if covered is None else exp.and_(covered, inside)

    def _within(self, regions: str, j: int) -> Iterator[exp.Expr]:
        """What holds where the place of a row's value is in the box that the list has."""
        first, after = (of(regions, name) for name in self._ends[j])
        yield cell(self._places[j]) >= first
        yield cell(self._places[j]) < after

    @cached_property
    def _places(self) -> dict[int, str]:
        """By column the name of the place of its value in the order of the column."""
        taken, places = [*self._carried, self._region], dict[int, str]()
        for j, item in self.items.items():
            places[j] = unlike(f"place_of_{item.name}", taken)
            taken.append(places[j])
        return places

    @cached_property
    def _ends(self) -> dict[int, tuple[str, str]]:
        """By column the names of the ends of its boxes in the list of regions."""
        taken, ends = ["region", *self.order.released_names], dict[int, tuple[str, str]]()
        for j, item in self.items.items() if self.tree.has_boxes else ():
            ends[j] = unlike(f"{item.name}_from", taken), unlike(f"{item.name}_below", taken)
            taken += ends[j]
        return ends

    @cached_property
    def _starts(self) -> dict[int, dict[int, int]]:
        """By column and atom the number of the group that begins there, or that would."""
        return {
            j: {start: n for n, (start, _) in enumerate(item.runs)}
            | {item.column.size: len(item.runs)}
            for j, item in self.items.items()
        }

    @cached_property
    def _uncovered(self) -> list[exp.Expr]:
        """By column the condition that its value belongs to a group; none where all do."""
        found = [in_any_group(item) for item in self.items.values()]
        return [condition for condition in found if condition is not None]

    @cached_property
    def _carried(self) -> list[str]:
        """The columns of the source that the release needs."""
        order = self.order
        needed = [item.name for item in order.items]
        needed += [column.name for column in order.measured]
        needed += [] if order.subject is None else [order.subject]
        return list(dict.fromkeys(needed))

    @cached_property
    def _region(self) -> str:
        return unlike("region", [*self._carried, *self.order.released_names])

    @cached_property
    def _regions(self) -> TreeList:
        """What is released in every region, found by the region, and by the box in it."""
        regions = self._list_of_regions
        if self.by_column or not self.tree.has_boxes:
            return regions
        ends = (each for j in self._ends for each in self._within(regions.name, j))
        return replace(regions, condition=exp.and_(regions.condition, *ends))

    @cached_property
    def _list_of_regions(self) -> TreeList:
        nodes, numbers = self.tree.regions.node.tolist(), self.tree.group_of_region.tolist()
        items, item_runs = self.items.items(), self.tree.groups
        starts = self._starts
        rows = tuple(
            (
                node,
                *(each for j, item in items for each in item.cells[number[j]]),
                *(starts[j][end] for j in self._ends for end in item_runs[j][number[j]]),
            )
            for node, number in zip(nodes, numbers, strict=True)
        )
        names = [name for _, item in items for name in item.released_names]
        names += [name for ends in self._ends.values() for name in ends]
        table = self.names.free(REGIONS)
        condition: exp.Expr = exp.EQ(this=cell(self._region), expression=of(table, "region"))
        loaded = self.order.loaded.get(REGIONS)
        return TreeList(self._some, table, ("region",), tuple(names), rows, condition, table=loaded)

    @cached_property
    def _splits(self) -> TreeList:
        """By node the column that parts it, the place of its cut, and where rows go on."""
        tree, starts = self.tree, self._starts
        columns = (tree.node, tree.column, tree.at, tree.first, tree.second)
        rows = tuple(
            (node, j, starts[j][at], first, second)
            for node, j, at, first, second in zip(*(c.tolist() for c in columns), strict=True)
        )
        table = self.names.free(SPLITS)
        released = ("column", "below", "yes", "no")
        loaded = self.order.loaded.get(SPLITS)
        return TreeList(self._some, table, ("node",), released, rows, exp.true(), table=loaded)

    @property
    def _some(self) -> Generalized:
        """Whose list a list of several columns is, as far as that matters."""
        return replace(next(iter(self.items.values())), type="")

    @cached_property
    def lists(self) -> tuple[tuple[str, TreeList], ...]:
        """The lists that may be loaded as tables, by what they are called there."""
        if self.is_read:
            return ((REGIONS, self._regions),)
        return ((REGIONS, self._regions), *([(SPLITS, self._splits)] * (len(self.tree.node) > 0)))

    @cached_property
    def is_read(self) -> bool:
        """Whether the tree is small enough for a CASE that a reader can follow."""
        if self.tree.has_boxes:
            return False
        forms = {item.form for item in self.items.values()}
        lists = max(
            (0 if item.by_intervals else item.column.size for item in self.items.values()),
            default=0,
        )
        if Form.JOIN in forms or lists > MOST_CASES:
            return False
        return len(self.tree.node) <= (MOST_CASES if Form.CASE in forms else MOST_READ)

    def steps(self, relation: exp.Expr) -> tuple[list[exp.CTE], exp.Table]:
        """The queries that lead to the rows with their regions, and the name of the last."""
        steps = self._case(relation) if self.is_read else self._levels(relation)
        found, last = [], ""
        for name, select, comment in steps:
            found += named_queries(name, select, comment)
            last = name
        return found, named(last)

    @property
    def _kept(self) -> dict[str, exp.Expr]:
        return {name: cell(name) for name in self._carried}

    def _inside(self, value: exp.Expr) -> exp.Expr:
        """The value for rows of which every column belongs to a group, NULL for others."""
        if not self._uncovered:
            return value
        covered = exp.and_(*(condition.copy() for condition in self._uncovered))
        return exp.Case(ifs=[exp.If(this=covered, true=value)])

    def _case(self, relation: exp.Expr) -> Iterator[tuple[str, exp.Select, str]]:
        routed = query(
            "release/routed.sql",
            kept=self._kept,
            region=self._inside(self._branches()),
            source=aliased(relation, SOURCE),
            columns={"region": self._region},
        )
        yield self.names.free("routed"), routed, "every row with the region that it lies in"

    def _branches(self) -> exp.Expr:
        """The tree as a nested CASE, from the regions up."""
        tree, found = self.tree, dict[int, exp.Expr]()
        low, high = self._runs_of_splits()
        for level in reversed(tree.levels):
            for row in level.tolist():
                node, j = int(tree.node[row]), int(tree.column[row])
                condition = self._condition(j, int(low[row]), int(tree.at[row]), int(high[row]))
                yes, no = (
                    found.pop(child) if child in found else exp.Literal.number(child)
                    for child in (int(tree.first[row]), int(tree.second[row]))
                )
                found[node] = exp.Case(ifs=[exp.If(this=condition, true=yes)], default=no)
        return found[1]

    def _runs_of_splits(self) -> tuple[Ints, Ints]:
        """By split the run of the column that it parts, as its node has it."""
        tree = self.tree
        runs = {1: {j: (0, tree.sizes[j]) for j in tree.cut_columns}}
        low, high = (np.zeros(len(tree.node), dtype=np.int64) for _ in range(2))
        for level in tree.levels:
            for row in level.tolist():
                here, j, at = runs.pop(int(tree.node[row])), int(tree.column[row]), tree.at[row]
                low[row], high[row] = here[j]
                runs[int(tree.first[row])] = here | {j: (here[j][0], at)}
                runs[int(tree.second[row])] = here | {j: (at, here[j][1])}
        return low, high

    def _condition(self, j: int, start: int, at: int, stop: int) -> exp.Expr:
        """Whether a row of the node lies before the cut."""
        item = self.items[j]
        domain = item.column.domain
        if at == domain.width:
            return is_not_null(value_of(item))
        if item.by_intervals:
            return value_of(item) < value_literal(item, domain.left_ends[at])
        last = min(stop, domain.width)
        if at - start <= last - at or stop > last:
            return listed(item, range(start, at))
        others = listed(item, range(at, last))
        if isinstance(others, exp.EQ):
            return exp.NEQ(this=others.this, expression=others.expression)
        return exp.Not(this=others)

    def _levels(self, relation: exp.Expr) -> Iterator[tuple[str, exp.Select, str]]:
        places, columns = self._places, dict[int, Written]()
        for j, item in self.items.items():
            columns[j] = _place(item, self.order, self.names.free(f"{item.name}_places"))
        outputs = {places[j]: each.outputs[0] for j, each in columns.items()}
        root = self._inside(exp.cast(exp.Literal.number(1), "bigint"))
        context, lists = read_from(relation, columns.values(), [*outputs.values(), root])
        placed = query(
            "release/placed.sql",
            kept=self._kept,
            places=outputs,
            root=root,
            columns={"region": self._region},
            **context,
        )
        lists += [self._splits] if len(self.tree.node) else []
        if lists:
            placed.set("with_", exp.With(expressions=[*map(list_cte, lists)]))
        name = self.names.free("placed")
        yield name, placed, "every row at node 1, with the places of its values"
        names = [*self._carried, *places.values()]
        for depth in range(len(self.tree.levels)):
            tables = {"nodes": name, "splits": self._splits.name}
            column = exp.column("column", table="splits", quoted=True)
            place = exp.Case(
                this=column,
                ifs=[
                    exp.If(this=exp.Literal.number(j), true=of("nodes", each))
                    for j, each in places.items()
                ],
            )
            for read in place.find_all(exp.Column):
                read.set("table", exp.to_identifier(tables[read.table], quoted=True))
            step = query(
                "release/one_level_down.sql",
                names=names,
                place=place,
                tables=tables,
                columns={"region": self._region},
            )
            name = self.names.free(f"level_{depth + 1}")
            yield name, step, f"{depth + 1} splits down"


def _place(item: Generalized, order: Order, name: str) -> Written:
    """The number of the value's group in the order of the column."""
    own = {field.name: getattr(item, field.name) for field in fields(item)}
    placed = _Placed(**own | {"output": Output.MIDPOINT})
    if not is_joined(placed):
        return cases(placed, placed.cells, exp.null())
    domain = placed.column.domain
    values_only = not isinstance(domain, IntervalDomain) and (
        not placed.by_intervals or len(placed.partition) == placed.column.size
    )
    make = mapping_of_values if values_only else mapping_of_intervals
    mapping = make(placed, placed.cells, name, ("place",))
    if order.standard and mapping.nearest is not None:
        mapping = Mapping(
            placed, name, mapping.keys, mapping.released, mapping.rows, mapping.condition
        )
    output: exp.Expr = of(name, "place")
    ifs: Sequence[exp.If] = ()
    if domain.has_null:
        null = exp.Literal.number(len(placed.partition) - 1)
        ifs = [exp.If(this=is_null(value_of(placed)), true=null)]
    if mapping.within is not None:
        ifs = [*ifs, exp.If(this=mapping.within.copy(), true=output)]
        output = exp.null()
    return Written((exp.Case(ifs=[*ifs], default=output) if ifs else output,), None, mapping)
