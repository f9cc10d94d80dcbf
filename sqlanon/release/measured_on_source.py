"""The measurement of one scheme on its source as one query: sql/measure.sql and its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from sqlanon.counting import generalized_of, models_of
from sqlanon.domain import NOT_IN_SCHEME, Cell, Column, Generalized, Output, Scheme, exact
from sqlanon.engines import Kind, Source
from sqlanon.errors import CompileError
from sqlanon.metrics import METRICS, divided, formula
from sqlanon.policy import Policy
from sqlanon.release.compile import text_of
from sqlanon.release.generalize import Written, as_it_is, cell, constant, written
from sqlanon.release.lists import with_named_lists
from sqlanon.release.order import Order, shown
from sqlanon.release.rows import (
    Names,
    class_values,
    generalized,
    of,
    people,
    released_outputs,
    unlike,
    with_lists,
)
from sqlanon.render import NATIVE, query

_TABLES = (
    "generalized", "source_counts", "labelled", "classes", "sizes", "released", "totals", "counted",
)  # fmt: skip
_OF_CLASSES = ("n_rows", "people", "minority")
"""Columns that stand beside the user's own."""
_OF_TOTALS = (
    "k", "k_max", "classes", "released_rows", "suppressed", "source_rows", "source_people",
    "uncovered",
)  # fmt: skip

MOST_PARTS = 10**6
"""Times so many, the rows of any table are a number of 64 bits."""


def measured_order(policy: Policy, source: Source, scheme: Scheme, k: int) -> Order:
    """What measuring a scheme with so many people in a class reads of a source."""
    section, parts = policy.section, zip(scheme.columns, scheme.partitions, strict=True)
    if models_of(policy, source):
        raise CompileError(
            f"{policy.origin}: privacy: models beyond k are measured on the count of the source, "
            "not by one query; run `sqlanon measure` without --on-source"
        )
    if scheme.cut_tree is not None:
        raise CompileError(
            "a scheme of recoding multidimensional is measured on the count of the source, not by "
            "one query; run `sqlanon measure` without --on-source"
        )
    return Order(
        source=source.relation,
        items=tuple(
            replace(
                generalized_of(policy, source.column(column.name), column, partition),
                output=Output.LABEL,
            )
            for column, partition in parts
        ),
        k=k,
        subject=section.subject,
        limit=0.0 if section.privacy is None else section.suppression.limit,
        columns=source.columns,
        label=policy.label,
        name=source.name,
        policy=policy.fingerprint,
        scheme=scheme.fingerprint,
        standard=not source.engine.can.asof_join,
    )


def measurement_text(order: Order, dialect: str = NATIVE) -> str:
    """The query of a measurement with its header, in a dialect; it ends with a newline."""
    order = with_named_lists(replace(order, standard=dialect != NATIVE))
    unit = "rows" if order.subject is None else "people"
    header = (
        f"measures a scheme on {order.name}",
        f"policy {order.policy[:16]}, scheme {order.scheme[:16]}",
        f"leaves out classes of fewer than {order.k} {unit}, up to a share of {order.limit:g} of "
        "the rows",
        *order.header,
    )
    order = shown(replace(order, header=header))
    return text_of(compile_measurement(order), order, dialect)


def compile_measurement(order: Order) -> exp.Query:
    """One row: k, classes, suppressed rows, and every score that has a cell in its metric."""
    names, taken = Names(order.source), [*order.class_names]
    tables = {each: names.free(each) for each in _TABLES}
    columns = {each: _free(each, taken) for each in _OF_CLASSES}
    groups = [
        (item, written(item, order, names.free(f"{item.name}_map"))) for item in order.generalized
    ]
    outputs = released_outputs(groups)
    subject: exp.Expr | None = None
    label: exp.Expr | None = None
    if order.subject is not None:
        subject = exp.column(_free("subject", taken), quoted=True)
        outputs[subject.name] = cell(order.subject)
    for each in (info for info in order.columns if info.name == order.label):
        plain = exp.column(_free("label", taken), quoted=True)
        outputs[plain.name] = as_it_is(each.name, each.type)
        label = exact(plain) if each.kind is Kind.TEXT else plain
    as_sql = [each for _, each in groups]
    context, lists = generalized(order.source, as_sql, outputs, only_covered=False)
    measures = [m for m in METRICS.values() if label is not None or not m.needs_label]
    fixed = [*columns.values(), *_OF_TOTALS, *(name for m in measures for name in m.measure_sums)]
    lost = [_free(f"{item.name}_lost", fixed) for item in order.generalized]
    losses = {name: exp.column(name, quoted=True) for name in lost}
    rows = exp.column(columns["n_rows"], quoted=True)
    sums = {
        n: _renamed(formula(text), columns) for m in measures for n, text in m.measure_sums.items()
    }
    sums |= {name: exp.Sum(this=rows * loss) for name, loss in losses.items()}
    of_columns = [item.column for item in order.generalized]
    shares = [(c, _share(c, loss)) for c, loss in zip(of_columns, losses.values(), strict=True)]
    counted = [exp.cast(loss, "double").as_(name, quoted=True) for name, loss in losses.items()]
    counted += [exp.column(name, quoted=True) for each in measures for name in each.measure_sums]
    limit_parts, limit, rows_in_limit = _in_limit(
        order.limit, of(tables["source_counts"], "source_rows")
    )
    own = [each for each in _OF_CLASSES if label is not None or each != "minority"]
    select = query(
        "measure.sql",
        tables=tables,
        columns=columns,
        people=people(subject),
        uncovered=_uncovered(order, groups),
        classes="measure/classes.sql" if label is None else "measure/classes_by_label.sql",
        class_columns=[value.as_(name, quoted=True) for name, value in class_values(order)],
        label=label,
        measured=[of(tables["classes"], columns[each]) for each in own],
        lost=dict(zip(lost, _lost(order, tables["classes"]), strict=True)),
        k=order.k,
        limit=limit,
        limit_parts=limit_parts,
        rows_in_limit=rows_in_limit,
        sums={name: _or_zero(total) for name, total in sums.items()},
        counted=counted,
        scores={name: score for m in measures for name, score in m.measure_sql(shares).items()},
        **context,
    )
    for order_by in select.find_all(exp.Order):  # no size is NULL, so no database need place it
        order_by.set("expressions", [each.this for each in order_by.expressions])
    return with_lists(select, lists)


def _in_limit(limit: float, rows: exp.Expr) -> tuple[int, int, exp.Expr]:
    """Numbers a, b and c: n rows are within limit · rows where a · n is at most b · c.

    Where the limit has so many digits that its parts of a row are too many for 64 bits, c is
    limit · rows rounded down: three digits are multiplied at a time, from the last to the first.
    That is exact for 10 ** 12 rows, also in floats.
    """
    share = Decimal(str(limit))
    number, parts = share.as_integer_ratio()
    if parts <= MOST_PARTS:
        return parts, number, rows
    digits = f"{share:f}".partition(".")[2]
    within: exp.Expr = exp.Literal.number(0)
    for place in reversed(range(0, len(digits), 3)):
        piece = exp.Literal.number(int(digits[place : place + 3].ljust(3, "0")))
        total = exp.paren(piece * rows.copy() + within)
        within = exp.Floor(this=divided(total, exp.Literal.number("1000.0")))
    return 1, 1, within


def _free(wanted: str, taken: list[str]) -> str:
    """The wanted name, with a number where it is taken; from now on it is."""
    taken.append(unlike(wanted, taken))
    return taken[-1]


def _share(column: Column, loss: exp.Expr) -> exp.Expr:
    """Σ over rows of (|g|−1)/(|Σ|−1); 0 for a column of one atom, which loses nothing."""
    return divided(loss.copy(), exp.Literal.number(max(column.size - 1, 1)))


def _uncovered(order: Order, groups: Sequence[tuple[Generalized, Written]]) -> exp.Expr:
    """How many rows have a value of no group, as far as their labels say so."""
    values = dict(class_values(order))
    found = [
        exp.EQ(this=values[item.name], expression=constant(NOT_IN_SCHEME))
        for item, as_sql in groups
        for each in as_sql.outputs[0].find_all(exp.Literal)
        if each.is_string and each.this == NOT_IN_SCHEME
    ]
    one, none = exp.Literal.number(1), exp.Literal.number(0)
    if not found:
        return none
    return exp.Sum(this=exp.Case(ifs=[exp.If(this=exp.or_(*found), true=one)], default=none))


def _lost(order: Order, classes: str) -> Iterator[exp.Expr]:
    """By column |g| − 1 of the group that a class is in, by the group's label."""
    values = dict(class_values(order, classes))
    for item in order.generalized:
        lost: dict[int, list[Cell]] = {}
        for (label,), (start, stop) in zip(item.cells, item.runs, strict=True):
            lost.setdefault(stop - start - 1, []).append(label)
        if len(lost) == 1:
            yield exp.Literal.number(next(iter(lost)))
            continue
        ifs = [
            exp.If(this=_is_one_of(values[item.name], labels), true=exp.Literal.number(each))
            for each, labels in sorted(lost.items(), reverse=True)
            if each
        ]
        yield exp.Case(ifs=ifs, default=exp.Literal.number(0))


def _is_one_of(value: exp.Expr, labels: Sequence[Cell]) -> exp.Expr:
    """Whether a class has one of these labels. NULL is not among them: it is a group alone."""
    known = [constant(label) for label in labels]
    if len(known) == 1:
        return exp.EQ(this=value.copy(), expression=known[0])
    return exp.In(this=value.copy(), expressions=known)


def _or_zero(total: exp.Expr) -> exp.Expr:
    """A sum over the released classes; 0 where there is no such class."""
    return exp.Coalesce(this=total, expressions=[exp.Literal.number(0)])


def _renamed(formula: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """A formula of a metric under the names that the query has for what it reads."""

    def named(node: exp.Expr) -> exp.Expr:
        is_column = isinstance(node, exp.Column)
        return exp.column(names[node.name], quoted=True) if is_column else node

    return formula.transform(named)
