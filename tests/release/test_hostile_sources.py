"""Names that collide with ours, and values that databases spell or compare in several ways."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pytest
from small_recipes import CITY, JOIN, age, any_sex, city, recipe, sex, unseen_rows
from sqlglot import exp, parse_one

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain import NOT_IN_SCHEME, Generalized
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.presentation import Form, Output, RowOrder, Unseen
from sqlanon.domain.values import Value
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.errors import CompileError, SchemeError
from sqlanon.privacy.l_diversity import DistinctDiversity
from sqlanon.release.compile import compile_release, release_text, statement_text
from sqlanon.release.generalize import released
from sqlanon.release.order import MeasuredColumn, Order, Pseudonym, Verbatim

NAMES = ["generalized", "counted", "source", "people_map", "subject", "select", 'a"b', "x;--"]


def connected(*statements: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": "1"})
    for statement in statements:
        connection.execute(statement)
    return connection


def rows(connection: duckdb.DuckDBPyConnection, made: Order, **options: Any) -> list[tuple]:
    select = compile_release(made, **options).select
    return connection.execute(statement_text(select, "duckdb")).fetchall()


def one(values: tuple[Value, ...], kind: Kind, type_: str, **options: Any) -> Generalized:
    """The column x with every value a group of its own."""
    domain = ValueDomain("x", kind, values)
    return Generalized(Column(domain), Partition.atoms(len(values)), type_, **options)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("as_query", [False, True])
def test_source_tables_with_the_names_of_our_parts(name: str, as_query: bool) -> None:
    table = exp.table_(name, quoted=True)
    created = f"CREATE TABLE {table.sql('duckdb')} (age INTEGER, sex VARCHAR)"
    filled = f"INSERT INTO {table.sql('duckdb')} VALUES (3, 'F'), (4, 'F'), (70, 'M')"
    source: exp.Expr = table
    if as_query:
        inner = exp.select("*").from_(table)
        source = (
            exp.select("*").from_("generalized_").with_("generalized_", as_=inner).subquery("q")
        )
    made = recipe(age(**JOIN), sex(**JOIN), source=source, suppress=True)
    assert rows(connected(created, filled), made) == [("[0, 25)", "F")] * 2


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("name", ["classes", "members", "unsafe_classes", "sex_counts", "counted"])
def test_source_tables_with_the_names_of_queries_about_models(name: str, guarded: bool) -> None:
    """Columns too: every own name of the templates is also one of a released column."""
    table = exp.table_(name, quoted=True)
    created = (
        f"CREATE TABLE {table.sql('duckdb')} (age INTEGER, sex VARCHAR, people INTEGER, "
        "class INTEGER, is_unsafe INTEGER, unsafe_rows INTEGER, value INTEGER)"
    )
    filled = (
        f"INSERT INTO {table.sql('duckdb')} VALUES "
        "(3, 'F', 1, 2, 3, 4, 5), (4, 'M', 1, 2, 3, 4, 5), "
        "(70, 'M', 1, 2, 3, 4, 5), (71, 'M', 1, 2, 3, 4, 5)"
    )
    others = [Verbatim(each, "INTEGER") for each in ("people", "class", "is_unsafe", "unsafe_rows",
                                                     "value")]  # fmt: skip
    made = recipe(
        age(**JOIN),
        Verbatim("sex", "VARCHAR"),
        *others,
        source=table,
        suppress=True,
        models=(DistinctDiversity("sex", 2),),
        sensitive=(MeasuredColumn("sex", "VARCHAR", Kind.TEXT),),
    )
    found = rows(connected(created, filled), made, guarded=guarded)
    assert found == [("[0, 25)", "F", 1, 2, 3, 4, 5), ("[0, 25)", "M", 1, 2, 3, 4, 5)]


def test_a_query_with_ctes_of_our_names() -> None:
    text = """
        WITH source AS (SELECT 3 AS age, 'F' AS sex UNION ALL SELECT 3, 'F'),
             generalized AS (FROM source), age_map AS (FROM source),
             counted AS (FROM generalized)
        SELECT counted.* FROM counted, age_map
    """
    source = parse_one(text, dialect="duckdb").subquery("source")
    made = recipe(age(**JOIN), sex(), source=source, suppress=True)
    assert rows(connected(), made) == [("[0, 25)", "F")] * 4


def test_a_view_that_reads_a_table_of_our_name() -> None:
    connection = connected(
        "CREATE TABLE generalized AS SELECT 3 AS age FROM range(2)",
        "CREATE VIEW people AS FROM generalized",
    )
    assert rows(connection, recipe(age(), suppress=True)) == [("[0, 25)",)] * 2


def test_a_struct_with_the_name_of_the_source() -> None:
    connection = connected("CREATE TABLE people AS SELECT 3 AS age, {'age': 70} AS source")
    made = recipe(age(), Verbatim("source", "STRUCT(age INTEGER)"))
    assert rows(connection, made) == [("[0, 25)", {"age": 70})]


@pytest.mark.parametrize("other", ["age_low", "AGE_LOW", "Age_High"])
def test_a_column_with_the_name_of_a_bound(other: str) -> None:
    with pytest.raises(CompileError, match="two columns"):
        recipe(age(output=Output.BOUNDS), Verbatim(other, "INTEGER"))
    connection = connected(f"CREATE TABLE people AS SELECT 3 AS age, 8 AS {other}")
    assert rows(connection, recipe(age(output=Output.BOUNDS))) == [(0, 25)]


def test_a_recipe_without_quasi_identifiers() -> None:
    with pytest.raises(CompileError, match="no quasi-identifier"):
        compile_release(recipe(Verbatim("a", "INTEGER"), suppress=True))


@pytest.mark.parametrize("unseen", [Unseen.ERROR, Unseen.TOP])
@pytest.mark.parametrize("form", list(Form))
def test_a_domain_of_one_value_does_not_rename_others(unseen: Unseen, form: Form) -> None:
    connection = connected("CREATE TABLE people AS SELECT unnest(['a', 'b', NULL]) AS x")
    made = recipe(one(("a",), Kind.TEXT, "VARCHAR", form=form), unseen=unseen)
    wanted = {("b",), (None,)} if unseen is Unseen.ERROR else {("*",)}
    assert set(rows(connection, made)) == {("a",), *wanted}
    assert unseen_rows(connection, made) == (2 if unseen is Unseen.ERROR else 0,)


def test_the_ends_of_a_range_are_not_written_for_what_lies_outside() -> None:
    connection = connected("CREATE TABLE people AS SELECT unnest([0, 90, 91, NULL]) AS age")
    column = age().column
    whole = Generalized(column, Partition.whole(18), "INTEGER", Output.BOUNDS, open_ends=True)
    assert rows(connection, recipe(whole)) == [(0, 90), (0, 90), (None, None), (None, None)]
    assert unseen_rows(connection, recipe(whole)) == (2,)


def test_equal_floats_are_released_alike() -> None:
    """-0.0 beside 0.0, or a NaN with a sign, would tell two people of a class apart."""
    connection = connected(
        "CREATE TABLE people AS SELECT unnest([0.0, '-0.0'::DOUBLE, 'nan', -('nan'::DOUBLE)]) AS x"
    )
    made = recipe(one((0.0, math.nan), Kind.FLOAT, "DOUBLE"))
    text = statement_text(compile_release(made).select, "duckdb")
    found = connection.execute(f"SELECT CAST(x AS VARCHAR) FROM ({text})").fetchall()
    assert sorted(found) == [("0.0",), ("0.0",), ("nan",), ("nan",)]
    for form in Form:
        labels = recipe(one((0.0, math.nan), Kind.FLOAT, "DOUBLE", null_label="-", form=form))
        assert rows(connection, labels) == [("0",), ("0",), ("nan",), ("nan",)]


@pytest.mark.parametrize("form", list(Form))
def test_nan_is_beyond_no_open_end(form: Form) -> None:
    connection = connected(
        "CREATE TABLE people AS SELECT unnest(['-inf', '-1', '5', '20', 'inf', 'nan'])::DOUBLE AS x"
    )
    column = Column(IntervalDomain.of_range("x", Kind.FLOAT, 0.0, 20.0, 5.0))
    item = Generalized(column, Partition(4, (0, 2)), "DOUBLE", open_ends=True, form=form)
    made = recipe(item)
    wanted = ["(not in the scheme)", "15+", "15+", "<5", "<5", "[5, 15)"]
    assert [label for (label,) in rows(connection, made)] == wanted


@pytest.mark.parametrize("form", list(Form))
def test_nanoseconds(form: Form) -> None:
    """A plain timestamp has microseconds, so that both would be one."""
    connection = connected(
        "CREATE TABLE people AS SELECT unnest(['2020-01-01 00:00:00.000000001', "
        "'2020-01-01 00:00:00.000000002']::TIMESTAMP_NS[]) AS x FROM range(2)"
    )
    source = open_source(connection=connection, table="people")
    (column,) = count(source, [Quasi("x")]).space.columns
    for options in ({}, {"null_label": "-"}):
        item = Generalized(column, Partition.atoms(2), "TIMESTAMP_NS", form=form, **options)
        made = recipe(item, suppress=True)
        text = statement_text(compile_release(made).select, "duckdb")
        counted = connection.execute(f"SELECT COUNT(DISTINCT x), COUNT(*) FROM ({text})")
        assert counted.fetchall() == [(2, 4)]
        assert unseen_rows(connection, made) == (0,)


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("HUGEINT", (-(2**127) + 1, 0, 2**127 - 1)),
        ("UBIGINT", (0, 2**64 - 1)),
        ("TINYINT", (-128, 127)),
    ],
)
@pytest.mark.parametrize("form", [Form.CASE, Form.JOIN])
def test_wide_whole_numbers(type_: str, values: tuple[int, ...], form: Form) -> None:
    listed = ", ".join(map(str, values))
    connection = connected(f"CREATE TABLE people AS SELECT unnest([{listed}]::{type_}[]) AS x")
    item = one(values, Kind.INTEGER, type_, form=form, null_label="-")
    assert set(rows(connection, recipe(item))) == {(str(v),) for v in values}
    pair = Generalized(item.column, Partition(len(values), (0,)), type_, form=form, open_ends=True)
    assert len(set(rows(connection, recipe(pair)))) == 2


@pytest.mark.parametrize(
    ("type_", "plain"),
    [
        ("ENUM('a', 'secret')", "VARCHAR"),
        ("ENUM('a', 'secret')[]", "VARCHAR[]"),
        ("STRUCT(x ENUM('a', 'secret'), y INTEGER)", "STRUCT(x VARCHAR, y INTEGER)"),
        ('STRUCT("ENUM(" INTEGER)', 'STRUCT("ENUM(" INTEGER)'),
    ],
)
def test_a_verbatim_type_does_not_list_values(type_: str, plain: str) -> None:
    connection = connected(f"CREATE TABLE people (sex VARCHAR, e {type_})")
    described = connection.execute("DESCRIBE people").fetchall()[1][1]
    text = release_text(recipe(any_sex(), Verbatim("e", described))).rstrip(";\n")
    assert connection.execute(f"DESCRIBE {text}").fetchall()[1][1] == plain


@pytest.mark.parametrize("form", [Form.CASE, Form.JOIN])
def test_a_release_of_enums_is_text(form: Form) -> None:
    connection = connected(
        "CREATE TABLE people AS SELECT unnest(['Rome', 'Oslo'])::ENUM('Oslo', 'Rome') AS city"
    )
    kept = Generalized(CITY, CITY.levels[0], "ENUM('Oslo', 'Rome')", form=form)
    text = statement_text(compile_release(recipe(kept)).select, "duckdb")
    assert connection.execute(f"DESCRIBE {text}").fetchall()[0][1] == "VARCHAR"
    grouped = Generalized(CITY, CITY.levels[1], "ENUM('Oslo', 'Rome')", form=form)
    assert rows(connection, recipe(grouped)) == [("Italy",), ("Norway",)]


def test_order() -> None:
    """Sorted by every column, constants among them; shuffled differs from run to run."""
    connection = connected(
        "CREATE TABLE people AS SELECT 1 AS sex, (i * 37) % 101 AS n FROM range(101) t(i)"
    )
    sorted_rows = rows(connection, recipe(any_sex(), Verbatim("n", "BIGINT")))
    assert sorted_rows == [("*", n) for n in range(101)]
    shuffled = recipe(any_sex(), Verbatim("n", "BIGINT"), row_order=RowOrder.SHUFFLED)
    first, second = (rows(connection, shuffled) for _ in range(2))
    assert first != second
    assert sorted(first) == sorted(second) == sorted_rows


def test_a_pseudonym_of_null_is_null() -> None:
    connection = connected("CREATE TABLE people AS SELECT 'F' AS sex, NULL::VARCHAR AS person")
    select = compile_release(recipe(sex(), Pseudonym("person", "key"))).select
    found = connection.execute(select.sql("duckdb"), {"key": "k"}).fetchall()
    assert found == [("F", None)]


def test_markers_and_labels_that_mean_two_things() -> None:
    marked = {"suppress": True, "marker": "*"}
    with pytest.raises(CompileError, match="'\\*' is also a label of column 'sex'"):
        compile_release(recipe(age(), any_sex(), **marked))
    for wrong in ("Italy", NOT_IN_SCHEME):
        with pytest.raises(CompileError, match=r"suppression\.marker"):
            compile_release(recipe(city(), suppress=True, marker=wrong))
    with pytest.raises(CompileError, match=r"suppression\.marker"):
        compile_release(recipe(age(), unseen=Unseen.TOP, **marked))
    with pytest.raises(CompileError, match="no place for the marker"):
        compile_release(recipe(age(output=Output.LOWER), **marked))
    with pytest.raises(CompileError, match="cannot mark"):
        compile_release(recipe(age(), suppress=True, marker="#"), guarded=True)
    with pytest.raises(CompileError, match="reserved"):
        compile_release(recipe(one((NOT_IN_SCHEME, "b"), Kind.TEXT, "VARCHAR")))
    with pytest.raises(CompileError, match="top label"):
        compile_release(recipe(one(("*", "b"), Kind.TEXT, "VARCHAR"), unseen=Unseen.TOP))
    with pytest.raises(SchemeError, match="null_label"):
        compile_release(recipe(city(null_label="Italy")))


def test_a_top_that_is_the_group_of_all_values_is_no_clash() -> None:
    item = Generalized(CITY, Partition(5, (3,)), "VARCHAR")
    connection = connected("CREATE TABLE people AS SELECT unnest(['Rome', 'Paris', NULL]) AS city")
    made = recipe(item, unseen=Unseen.TOP)
    assert rows(connection, made) == [("Europe",), ("Europe",), (None,)]
    assert released(made)[0].values == {"Europe", None}


def test_unknown_dialects() -> None:
    with pytest.raises(CompileError, match="there is no dialect 'klingon'"):
        release_text(recipe(age()), "klingon")
