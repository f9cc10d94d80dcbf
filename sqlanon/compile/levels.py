"""The earth mover's distance by a hierarchy, as parts of a statement.

Two values are as far apart as the height of their lowest common ancestor, in parts of the
height H of the tree. What an inner node N has to even out among its children costs
height(N)/H · min(too much, too little); what remains of it is its own excess, so these costs add
up to the mean over the levels 0 … H − 1 of Σ max(0, p − q) over the level's nodes. Only nodes
that the class has count there, and no class needs all values.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlanon.compile.arithmetic import distance, equal_value, same_value
from sqlanon.compile.parts import cte, named, of, ordinals, values_cte
from sqlanon.compile.recipe import Sensitive
from sqlanon.hierarchy import Hierarchy
from sqlanon.histogram.atoms import literal
from sqlanon.model import Kind


def level_parts(
    hierarchy: Hierarchy,
    column: Sensitive,
    counts: str,
    source: str,
    number: str,
    name: Callable[[str], str],
) -> list[exp.CTE]:
    """The parts, the last with the distance of each class; `name` makes names for them.

    A value that is no leaf, and NULL, is a leaf of its own directly under the root.
    """
    is_text = column.kind is Kind.TEXT
    tree, nodes = name("tree"), name("nodes")
    of_source, of_classes = name("node_source"), name("node_counts")
    return [
        values_cte(tree, ["value", *_titles(hierarchy)], _leaves(hierarchy, column)),
        cte(nodes, _nodes(hierarchy, tree, source, is_text)),
        cte(of_source, _in_source(nodes)),
        cte(of_classes, _in_classes(nodes, counts, number, is_text)),
        cte(name("levels"), _distance(of_classes, of_source, number, hierarchy.height)),
    ]


def _titles(hierarchy: Hierarchy) -> list[str]:
    """The levels between the values and the root."""
    return [f"level_{level}" for level in range(1, hierarchy.height)]


def _leaves(hierarchy: Hierarchy, column: Sensitive) -> list[exp.Tuple]:
    levels = [hierarchy.groups(level) for level in range(1, hierarchy.height)]
    rows = zip(hierarchy.parsed(column.kind), *levels, strict=True)
    return [
        exp.Tuple(expressions=[literal(leaf), *[exp.Literal.number(n + 1) for n in groups]])
        for leaf, *groups in rows
    ]


def _nodes(hierarchy: Hierarchy, tree: str, source: str, is_text: bool) -> exp.Query:
    """Every value of the source with its node on every level, numbered within the level."""
    value = [of(source, name) for name in ("value", "people", "total")]
    own = of(source, "leaf")
    parts = [
        exp.select(
            *[each.copy() for each in value],
            exp.Literal.number(0).as_("level", quoted=True),
            own.as_("node", quoted=True),
        ).from_(named(source))
    ]
    for level, title in enumerate(_titles(hierarchy), 1):
        node = exp.Coalesce(this=of(tree, title), expressions=[exp.Neg(this=own.copy())])
        select = exp.select(
            *[each.copy() for each in value],
            exp.Literal.number(level).as_("level", quoted=True),
            node.as_("node", quoted=True),
        )
        same = equal_value(source, tree, is_text)
        parts.append(select.from_(named(source)).join(named(tree), on=same, join_type="left"))
    query: exp.Query = parts[0]
    for part in parts[1:]:
        query = exp.Union(this=query, expression=part, distinct=False)
    return query


def _in_source(nodes: str) -> exp.Select:
    outputs = [of(nodes, "level"), of(nodes, "node"), *_summed(nodes, nodes)]
    return exp.select(*outputs).from_(named(nodes)).group_by(*ordinals(range(2)))


def _in_classes(nodes: str, counts: str, number: str, is_text: bool) -> exp.Select:
    keys = [of(counts, number), of(nodes, "level"), of(nodes, "node")]
    select = exp.select(*keys, *_summed(counts, counts)).from_(named(counts))
    select = select.join(named(nodes), on=same_value(counts, nodes, is_text))
    return select.group_by(*ordinals(keys))


def _summed(people: str, total: str) -> list[exp.Expr]:
    return [
        exp.Sum(this=of(people, "people")).as_("people", quoted=True),
        exp.Max(this=of(total, "total")).as_("total", quoted=True),
    ]


def _distance(counts: str, source: str, number: str, height: int) -> exp.Select:
    same = exp.and_(
        *[exp.EQ(this=of(counts, key), expression=of(source, key)) for key in ("level", "node")]
    )
    far = distance(counts, source, height).as_("distance", quoted=True)
    select = exp.select(of(counts, number), far).from_(named(counts))
    return select.join(named(source), on=same).group_by(*ordinals(range(1)))
