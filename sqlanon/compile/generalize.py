"""The SQL of one generalized column: a CASE for few groups, a join against a list for many."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.compile.mappings import (
    Mapping,
    mapping_of_intervals,
    mapping_of_spans,
    mapping_of_values,
)
from sqlanon.compile.present import (
    NOT_IN_SCHEME,
    Cell,
    cells,
    decimal_digits,
    hides_unseen,
    keeps_values,
    top_cell,
)
from sqlanon.compile.recipe import Generalized, Recipe
from sqlanon.compile.values import (
    constant,
    in_any_group,
    in_group,
    is_not_null,
    is_null,
    kept_value,
    value_of,
)
from sqlanon.domain import IntervalDomain
from sqlanon.model import Form, Output

MOST_CASES = 100
"""A CASE of more branches, or with more listed values, is written as a join instead: nobody
reads it, and for listed values the join is faster from about here on."""


@dataclass(frozen=True)
class Written:
    """A column as SQL.

    outputs  one expression a released column
    covered  whether the value belongs to a group; None where every value does
    mapping  the list that outputs or `covered` read, if they do
    """

    outputs: tuple[exp.Expr, ...]
    covered: exp.Expr | None = None
    mapping: Mapping | None = None


def written(
    item: Generalized, recipe: Recipe, mapping_name: str, *, standard: bool = False
) -> Written:
    """A generalized column as SQL; `mapping_name` is free for a list.

    `standard` leaves out the nearest row of lists, which not every database can find.
    """
    groups = cells(item)
    if item.takes_all:
        return Written(tuple(constant(c) for c in groups[0]))
    if keeps_values(item, recipe):
        return _kept(item, mapping_name)
    otherwise = _otherwise(item, recipe)
    if _is_joined(item):
        result = _joined(item, groups, otherwise, mapping_name, standard)
    else:
        result = _cases(item, groups, otherwise)
    if digits := decimal_digits(item):
        decimal = exp.DataType.build(f"DECIMAL({digits[0]}, {digits[1]})")
        outputs = tuple(exp.cast(output, decimal.copy()) for output in result.outputs)
        result = replace(result, outputs=outputs)
    if hides_unseen(item, recipe):
        return Written(result.outputs, None, result.mapping)
    return result


def _otherwise(item: Generalized, recipe: Recipe) -> exp.Expr:
    """What is written for a value that belongs to no group."""
    if item.output is not Output.LABEL:
        return exp.null()
    return exp.Literal.string(top_cell(item) if hides_unseen(item, recipe) else NOT_IN_SCHEME)


def _is_joined(item: Generalized) -> bool:
    domain = item.column.domain
    by_intervals = item.by_intervals or item.spans is not None
    if not domain.width or (by_intervals and item.partition.runs[0][1] >= domain.width):
        return False  # one interval needs no list
    if item.form is not Form.AUTO:
        return item.form is Form.JOIN
    return (len(item.partition) if by_intervals else domain.width) > MOST_CASES


def _kept(item: Generalized, name: str) -> Written:
    domain, kept = item.column.domain, kept_value(item)
    # A long list inside a CASE, where such values are counted, is slow; a join is not.
    joined = item.form is Form.JOIN or (item.form is Form.AUTO and domain.width > MOST_CASES)
    if not joined or not domain.width:
        return Written((kept,), in_any_group(item))
    mapping = mapping_of_values(item, ((),) * domain.size, name, ())
    return Written((kept,), _found(item, mapping), mapping)


def _cases(item: Generalized, groups: tuple[tuple[Cell, ...], ...], otherwise: exp.Expr) -> Written:
    conditions = [in_group(item, start, stop) for start, stop in item.partition.runs]
    outputs = [
        exp.Case(
            ifs=[
                exp.If(this=condition.copy(), true=constant(group[place]))
                for condition, group in zip(conditions, groups, strict=True)
            ],
            default=None if isinstance(otherwise, exp.Null) else otherwise.copy(),
        )
        for place in range(len(item.released_names))
    ]
    return Written(tuple(outputs), in_any_group(item))


def _joined(
    item: Generalized,
    groups: tuple[tuple[Cell, ...], ...],
    otherwise: exp.Expr,
    name: str,
    standard: bool,
) -> Written:
    """A range join for intervals, a mapping join for values."""
    domain = item.column.domain
    values_only = not isinstance(domain, IntervalDomain) and (
        not item.by_intervals or len(item.partition) == item.column.size
    )
    make = mapping_of_values if values_only else mapping_of_intervals
    make = make if item.spans is None else mapping_of_spans
    # The ends of an interval are in its row already.
    own = item.output in (Output.LABEL, Output.MIDPOINT)
    mapping = make(item, groups if own else ((),) * len(groups), name, (item.output,) * own)
    if standard:
        mapping = replace(mapping, nearest=None, within=None)
    columns = (item.output,) if own else ("low", "high")[: len(item.released_names)]
    outputs = []
    for column, null in zip(columns, groups[-1], strict=True):
        output: exp.Expr = _of(mapping, column)
        default = None if isinstance(otherwise, exp.Null) else otherwise.copy()
        ifs = []
        if default is not None and domain.has_null:
            ifs.append(exp.If(this=is_null(value_of(item)), true=constant(null)))
        if mapping.within is not None:
            ifs.append(exp.If(this=mapping.within.copy(), true=output))
            output = exp.Case(ifs=ifs, default=default)
        elif default is not None:
            output = exp.Coalesce(this=output, expressions=[default])
            output = exp.Case(ifs=ifs, default=output) if ifs else output
        outputs.append(output)
    return Written(tuple(outputs), _found(item, mapping), mapping)


def _found(item: Generalized, mapping: Mapping) -> exp.Expr:
    found = is_not_null(_of(mapping, mapping.keys[0]))
    if mapping.within is not None:
        found = mapping.within.copy()
    return exp.or_(found, is_null(value_of(item))) if item.column.domain.has_null else found


def _of(mapping: Mapping, column: str) -> exp.Column:
    return exp.column(column, table=mapping.name, quoted=True)
