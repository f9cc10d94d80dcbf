"""The SQL of releases, executed, against a twin in plain Python that works row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from release_cases import Case, Drawn, cases
from row_oracle import UNSEEN, TwinRelease, same
from scheme_columns import from_bits
from sqlglot import exp

from sqlanon.counting.counter import count
from sqlanon.domain import Generalized
from sqlanon.domain.atoms import IntervalDomain
from sqlanon.domain.presentation import Output, Unseen
from sqlanon.engines.registry import open_source
from sqlanon.errors import CompileError
from sqlanon.release.compile import compile_release, statement_text
from sqlanon.release.generalize import released
from sqlanon.release.order import Order, Verbatim

CONNECTION = duckdb.connect(config={"threads": "1"})
CONNECTION.execute("SET TimeZone = 'UTC'")


def make_table(name: str, columns: list[Drawn], cells: list[list[Any]], more: dict) -> None:
    """A table with the columns' own types; Arrow has none for an ENUM and a UUID."""
    pairs = enumerate(zip(columns, cells, strict=True))
    arrays = {str(i): pa.array(c, column.field.type) for i, (column, c) in pairs}
    CONNECTION.register("arriving", pa.table(arrays | more))
    parts = []
    for number, column in enumerate(columns):
        value: exp.Expr = exp.column(str(number), quoted=True)
        if column.kind == "enum":
            listed = [exp.Literal.string(v) for v in column.enum_values()]
            value = exp.cast(value, exp.DataType(this=exp.DType.ENUM, expressions=listed))
        elif column.kind == "uuid":
            value = exp.cast(value, "uuid")
        parts.append(value.as_(column.name, quoted=True))
    parts += [exp.column(other, quoted=True) for other in more]
    text = exp.select(*parts).from_("arriving").sql("duckdb")
    CONNECTION.execute(f"CREATE OR REPLACE TABLE {name} AS {text}")
    CONNECTION.unregister("arriving")


def generalized(case: Case) -> tuple[list[Generalized], TwinRelease]:
    """The columns of the recipe and their twins; the scheme is one of the earlier data."""
    columns = case.columns
    make_table("earlier", columns, [c.field.cells for c in columns], {})
    source = open_source(connection=CONNECTION, table="earlier")
    found = count(source, [c.field.quasi for c in columns]).space.columns
    bits = [c.field.random_bits(case.rng) for c in columns]
    scheme = from_bits(found, [bit for part in bits for bit in part])
    items, twins = [], []
    for drawn, column, cuts, partition in zip(columns, found, bits, scheme.partitions, strict=True):
        is_range = isinstance(column.domain, IntervalDomain)
        output = case.rng.choice(list(Output)) if is_range and not case.marker else Output.LABEL
        null_label = case.rng.choice([None, "none"]) if output is Output.LABEL else None
        open_ends = case.rng.random() < 0.5
        info = source.column(drawn.name)
        items.append(
            Generalized(column, partition, info.type, output, open_ends, null_label, case.form)
        )
        groups = groups_of(cuts, drawn.field.has_null)
        presentation = {"output": str(output), "open_ends": open_ends, "null_label": null_label}
        twins.append(drawn.twin(groups, **presentation))
    kept = [
        case.unseen is not Unseen.TOP
        and case.marker is None
        and twin.edges is None
        and twin.null_label is None
        and all(len(group) == 1 for group in twin.groups)
        for twin in twins
    ]
    release = TwinRelease(
        twins, kept, case.k, case.suppress, case.marker, str(case.unseen), case.guarded
    )
    return items, release


def groups_of(bits: list[bool], has_null: bool) -> list[list[int]]:
    """Iyengar's bits; NULL stands apart as soon as anything is cut."""
    groups = [[0]]
    for number, bit in enumerate(bits, 1):
        if bit or (has_null and number == len(bits) and any(bits)):
            groups.append([number])
        else:
            groups[-1].append(number)
    return groups


def clashes(case: Case, release: TwinRelease) -> bool:
    """Whether a label means two things, so that compiling must refuse."""
    for column in release.columns:
        if column.output != "label":
            continue
        labels = {column.label(group) for group in column.groups}
        if (
            column.null_label
            and sum(column.label(g) == column.null_label for g in column.groups) > 1
        ):
            return True
        if case.unseen is Unseen.TOP and not column.takes_all:
            if column.top_clashes():
                return True
            labels.add(column.top)
        if case.marker in labels and case.marker is not None:
            return True
    return False


def left_out(case: Case) -> bool:
    """Whether rows with unseen values are left out."""
    return case.guarded or case.unseen is Unseen.LEAVE_OUT


def is_expected(found: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    """What an unseen value became does not matter: their number has told."""
    return wanted[0] is UNSEEN or tuple(map(same, found)) == tuple(map(same, wanted))


@settings(max_examples=200, deadline=None)
@given(cases())
def test_every_row_is_what_the_twin_says(case: Case) -> None:
    items, release = generalized(case)
    more = {"row id": pa.array(range(case.rows)), "who": pa.array(case.people, pa.int64())}
    make_table("later", case.columns, [c.later for c in case.columns], more)
    recipe = Order(
        exp.table_("later", quoted=True),
        (*items, Verbatim("row id", "BIGINT")),
        case.k,
        case.suppress,
        case.marker,
        "who" if case.by_subject else None,
        case.unseen,
        case.order,
    )
    if clashes(case, release):
        with pytest.raises(CompileError, match="label"):
            compile_release(recipe, guarded=case.guarded)
        return
    compiled = compile_release(recipe, guarded=case.guarded, keep_subject=case.by_subject)
    rows = list(zip(*(c.later for c in case.columns), strict=True)) if case.rows else []
    people = case.people if case.by_subject else list(range(case.rows))

    found_counts = CONNECTION.sql(compiled.counts.sql("duckdb", identify=True)).fetchall()
    assert found_counts == [(case.rows, len(set(people)), *release.unseen_counts(rows))]

    text = statement_text(compiled.select, "duckdb")
    table = CONNECTION.sql(text).to_arrow_table()
    private = [compiled.subject] if compiled.subject else []
    assert table.column_names == [*recipe.released_names, *private]
    assert (compiled.subject is None) == (not case.by_subject)
    found = [tuple(row.values()) for row in table.to_pylist()]
    place = len(recipe.class_names)
    by_number = {row[place]: row for row in found}
    assert len(by_number) == len(found), "a row of the source twice"
    if any(found_counts[0]) and case.suppress and not left_out(case):
        return  # such a release is refused; which of its rows were in small classes is open
    wanted = release.rows(rows, people)
    assert set(by_number) == set(wanted)
    for number, columns in wanted.items():
        start = 0
        for column, cells in zip(release.columns, columns, strict=True):
            wide = 2 if column.output == "bounds" else 1
            got = by_number[number][start : start + wide]
            assert is_expected(got, cells), (column.name, got, cells)
            start += wide
        if compiled.subject:
            assert by_number[number][place + 1] == case.people[number]

    plain = CONNECTION.sql(compiled.select.sql("duckdb", identify=True)).to_arrow_table()
    assert sorted(map(repr, plain.to_pylist())) == sorted(map(repr, table.to_pylist()))
    standard = compile_release(
        replace(recipe, standard=True), guarded=case.guarded, keep_subject=case.by_subject
    )
    assert "ASOF" not in standard.select.sql("duckdb")
    again = CONNECTION.sql(standard.select.sql("duckdb", identify=True)).to_arrow_table()
    assert sorted(map(repr, again.to_pylist())) == sorted(map(repr, table.to_pylist()))
    assert CONNECTION.sql(standard.counts.sql("duckdb", identify=True)).fetchall() == found_counts
    check_released(case, recipe, release)


def check_released(case: Case, recipe: Order, release: TwinRelease) -> None:
    """Every group's cell, the top and the marker can occur; nothing else can."""
    place = 0
    listed = released(recipe)
    for drawn, column, kept in zip(case.columns, release.columns, release.kept, strict=True):
        wide = 2 if column.output == "bounds" else 1
        for part in range(wide):
            wanted = {column.shown(n)[part] for n in range(len(column.groups))}
            if kept and not column.takes_all:
                wanted = {*column.ends, *([None] if column.has_null else [])}
            if case.unseen is Unseen.TOP and column.output == "label" and not column.takes_all:
                wanted.add(column.top)
            if case.marker is not None:
                wanted.add(case.marker)
            assert set(map(loose, listed[place].values)) == set(map(loose, wanted)), drawn.name
            place += 1


def loose(value: Any) -> Any:
    return "nan" if isinstance(value, float) and value != value else value
