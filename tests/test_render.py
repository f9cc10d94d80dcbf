"""Templates print names and values only in quoted form; expected SQL is written by hand."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from decimal import Decimal
from pathlib import Path

import duckdb
import jinja2
import pytest
from sqlglot import exp

from sqlanon import render as module
from sqlanon import resources
from sqlanon.errors import EngineError
from sqlanon.render import RenderError, Sql, query, render, render_text

HOSTILE = [
    "plain",
    "two words",
    "it's",
    'say "hi"',
    '"; DROP TABLE t; --',
    "'; DROP TABLE t; --",
    "/* comment */",
    "-- comment",
    "a\nb",
    "a.b",
    "back\\slash",
    "back`tick",
    "{{ 7 }}",
    "$1 ? :x %s",
    "Zürich 東京 🦆",
    "\u202eright to left",
    "SELECT",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_survives_as_one_identifier(name: str) -> None:
    sql = render_text("SELECT 1 AS {{ name|identifier }}", name=name)
    assert duckdb.sql(sql).columns == [name]


@pytest.mark.parametrize("value", [*HOSTILE, ""])
def test_a_text_survives_as_one_literal(value: str) -> None:
    sql = render_text("SELECT {{ value|literal }}", value=value)
    assert duckdb.sql(sql).fetchall() == [(value,)]


@pytest.mark.parametrize(
    ("value", "text", "type_"),
    [
        (7, "7", "INTEGER"),
        (-7, "-7", "INTEGER"),
        (2**100, "1267650600228229401496703205376", "HUGEINT"),
        (True, "TRUE", "BOOLEAN"),
        (None, "NULL", '"NULL"'),
        (Decimal("1.50"), "1.50", "DECIMAL(3,2)"),
        (Decimal("-1.50"), "-1.50", "DECIMAL(3,2)"),
        (Decimal("1E+5"), "100000", "INTEGER"),
        (0.1, "CAST('0.1' AS DOUBLE)", "DOUBLE"),
        (5e-324, "CAST('5e-324' AS DOUBLE)", "DOUBLE"),
        (math.inf, "CAST('Infinity' AS DOUBLE)", "DOUBLE"),
        (-math.inf, "CAST('-Infinity' AS DOUBLE)", "DOUBLE"),
        (dt.date(2024, 2, 29), "CAST('2024-02-29' AS DATE)", "DATE"),
        (
            dt.datetime(2024, 2, 29, 1, 2, 3, 4),
            "CAST('2024-02-29 01:02:03.000004' AS TIMESTAMP)",
            "TIMESTAMP",
        ),
    ],
)
def test_literals_have_one_spelling_and_come_back_equal(
    value: object, text: str, type_: str
) -> None:
    assert render_text("{{ value|literal }}", value=value) == text
    relation = duckdb.sql(f"SELECT {text}")
    assert relation.fetchall() == [(value,)]
    assert str(relation.types[0]) == type_


def test_nan_comes_back_as_nan() -> None:
    ((value,),) = duckdb.sql(render_text("SELECT {{ x|literal }}", x=math.nan)).fetchall()
    assert math.isnan(value)


def test_a_time_with_a_zone_keeps_its_instant() -> None:
    noon = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    text = render_text("{{ x|literal }}", x=noon)
    assert text == "CAST('2024-01-01 12:00:00+02:00' AS TIMESTAMPTZ)"
    # 12:00 at +02:00 is 10:00 UTC, 1704103200 seconds after 1970.
    assert duckdb.sql(f"SELECT epoch({text})").fetchall() == [(1704103200.0,)]


def test_the_dialect_decides_on_quotes_and_types() -> None:
    template = "{{ name|identifier }} {{ value|literal }} {{ number|literal }}"
    context = {"name": "a`b", "value": "it's", "number": 0.5}
    assert render_text(template, dialect="spark", **context) == (
        "`a``b` 'it\\'s' CAST('0.5' AS DOUBLE)"
    )
    assert render_text(template, dialect="postgres", **context) == (
        "\"a`b\" 'it''s' CAST('0.5' AS DOUBLE PRECISION)"
    )


def test_an_expression_is_printed_with_its_identifiers_quoted() -> None:
    expression = exp.column("order", table="t").eq(exp.Literal.string("x'y"))
    assert render_text("{{ e|sql }}", e=expression) == "\"t\".\"order\" = 'x''y'"


CELLS = {"q0": exp.column("age", quoted=True), 'a "b"': exp.convert(1), "own": exp.column("own")}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ x|columns }}", '"age" AS "q0",\n    1 AS "a ""b""",\n    "own"'),
        ("{{ x|columns(2) }}", '"age" AS "q0",\n  1 AS "a ""b""",\n  "own"'),
        ("{{ x|names }}", '"q0", "a ""b""", "own"'),
        ("{{ x|names('t') }}", '"t"."q0", "t"."a ""b""", "t"."own"'),
        ("{{ x|ordinals }}", "1, 2, 3"),
        ("{{ x.values()|cells }}", '"age", 1, "own"'),
        (
            "{{ x.values()|ascending }}",
            '"age" ASC NULLS LAST, 1 ASC NULLS LAST, "own" ASC NULLS LAST',
        ),
    ],
)
def test_a_list_is_printed_by_one_filter(template: str, text: str) -> None:
    assert render_text(template, x=CELLS) == text


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_lists_survive(name: str) -> None:
    cells = {name: exp.column(name, quoted=True), f"{name} 2": exp.convert(2)}
    text = (
        "SELECT {{ x|names }} FROM (SELECT {{ x|columns }} FROM (SELECT 7 AS {{ n|identifier }}))"
    )
    relation = duckdb.sql(render_text(text, x=cells, n=name))
    assert relation.columns == [name, f"{name} 2"]
    assert relation.fetchall() == [(7, 2)]


@pytest.mark.parametrize("filter_", ["columns", "names", "ordinals", "cells", "ascending"])
def test_an_empty_list_is_refused(filter_: str) -> None:
    with pytest.raises(RenderError, match="a list in a template is empty"):
        render_text(f"SELECT {{{{ x|{filter_} }}}}", x={})


@pytest.mark.parametrize(
    "template", ["{{ ['a']|cells }}", "{{ ['a']|ascending }}", "{{ {'a': 'b'}|columns }}"]
)
def test_texts_are_no_cells(template: str) -> None:
    with pytest.raises(RenderError, match="takes a sqlglot expression"):
        render_text(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ value }}",
        "{{ 'constant' }}",
        "{{ '' }}",
        "{{ value|upper }}",
        "{{ value|identifier ~ value }}",
        "{{ value|identifier|replace('x', 'y') }}",
        "{{ [value]|join(', ') }}",
        "{{ flag }}",
        "{{ 0.5 }}",
        "{{ none }}",
        "{{ [1] }}",
        "{% set block %}x{% endset %}{{ block }}",
        "{% macro m() %}x{% endmacro %}{{ m() }}",
        "{{ value|sql }}",
        "{{ 1|identifier }}",
        "{{ [1]|literal }}",
    ],
)
def test_anything_unquoted_but_an_int_is_refused(template: str) -> None:
    with pytest.raises(RenderError):
        render_text(template, value="x", flag=True)


def test_the_refusal_names_the_value_and_the_filters() -> None:
    with pytest.raises(RenderError, match=r"a plain str in a template is an error: 'x; --'.*liter"):
        render_text("{{ value }}", value="x; --")


def test_decimals_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(RenderError, match="no literal"):
        render_text("{{ x|literal }}", x=Decimal("NaN"))


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize("filter_", ["identifier", "literal"])
def test_nul_is_refused(filter_: str, dialect: str) -> None:
    with pytest.raises(EngineError, match=r"'a\\x00b' contains a NUL character"):
        render_text(f"{{{{ x|{filter_} }}}}", dialect=dialect, x="a\0b")


def test_nul_in_an_expression_is_refused() -> None:
    with pytest.raises(EngineError, match="NUL"):
        render_text("{{ x|sql }}", x=exp.Literal.string("a\0b"))


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(EngineError, match="must not be empty"):
        render_text("{{ x|identifier }}", x="")


def test_template_text_and_ints_pass_and_blocks_leave_no_blank_lines() -> None:
    template = """\
SELECT
    {% for name in names %}
    {{ name|identifier }}{% if not loop.last %},{% endif %}

    {% endfor %}
FROM t LIMIT {{ limit }}
"""
    assert render_text(template, names=["a", "b"], limit=10) == (
        'SELECT\n    "a",\n    "b"\nFROM t LIMIT 10'
    )


def test_a_rendered_text_may_stand_in_another_template() -> None:
    inner = render_text("SELECT {{ 1 }}")
    assert isinstance(inner, Sql)
    assert render_text("SELECT * FROM ({{ inner }})", inner=inner) == "SELECT * FROM (SELECT 1)"


@pytest.mark.parametrize(
    "template",
    [
        "{{ missing }}",
        "{{ missing|identifier }}",
        "{{ missing|literal }}",
        "{{ missing|sql }}",
        "{{ x.missing }}",
        "{{ missing|columns }}",
        "{{ missing|names }}",
        "{{ missing|ordinals }}",
        "{{ missing|cells }}",
        "{% for each in missing %}{% endfor %}",
    ],
)
def test_a_missing_name_is_an_error(template: str) -> None:
    with pytest.raises(jinja2.UndefinedError, match="missing"):
        render_text(template, x=1)


TEMPLATES = sorted(resources.path("sql").rglob("*.sql"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_reads_as_sql(path: Path) -> None:
    """At most a quarter of its lines are Jinja's, and none of these hides a loop in its length."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    control = [line for line in lines if "{%" in line]
    assert 4 * len(control) <= len(lines)
    assert all(len(line) < 100 for line in control)
    assert all(line.count("{%") <= 2 for line in control)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_opens_with_what_it_reads_and_yields(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    header = list(itertools.takewhile(lambda line: line.startswith("--"), lines))
    opening = [line[:10] for line in header]
    creates = lines[len(header)].startswith("CREATE TABLE")
    assert creates or opening[0].startswith("-- reads:")
    assert "-- yields:" in opening


def test_templates_are_read_from_the_sql_folder() -> None:
    text = resources.path("sql", "datasets", "people.sql").read_text(encoding="utf-8")
    assert render("datasets/people.sql") == text.rstrip("\n")


def test_an_unknown_template_is_an_error() -> None:
    with pytest.raises(jinja2.TemplateNotFound):
        render("no/such.sql")


def test_every_template_compiles() -> None:
    text, cells = module._environment("duckdb"), module._cell_environment()
    for name in text.list_templates(extensions=["sql"]):
        try:
            text.get_template(name)
        except jinja2.TemplateAssertionError:  # a filter for expressions only
            cells.get_template(name)


TEMPLATES = sorted(resources.path("sql").glob("release/*.sql"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_the_shape_of_a_query_is_visible(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("-- reads:")
    assert any(line.startswith("-- yields:") for line in lines)
    control = [line for line in lines if "{%" in line]
    assert len(control) <= len(lines) / 4


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Templates for `query`, which reads no others during the test."""
    found: dict[str, str] = {}
    monkeypatch.setattr(module._cell_environment(), "loader", jinja2.DictLoader(found))
    monkeypatch.setattr(module._cell_environment(), "cache", None)
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_values_survive_in_an_expression(templates: dict[str, str], text: str) -> None:
    templates["q"] = """
    WITH rows AS (SELECT {{ cells | columns }}, {{ text | literal }} AS value)
    SELECT
      {{ cells | names("rows") }},
      {{ of | sql }} AS found,
      rows.value AS {{ name | identifier }}
    FROM rows
    """
    of, name = exp.column(text, table="rows", quoted=True), f"the {text}"
    found = query("q", cells={text: exp.Literal.number(7)}, text=text, of=of, name=name)
    relation = duckdb.sql(found.sql("duckdb"))
    assert relation.columns == [text, "found", name]
    assert relation.fetchall() == [(7, 7, text)]


def test_only_names_of_the_template_are_renamed(templates: dict[str, str]) -> None:
    """Tables and columns apart; `held` is both here."""
    templates["q"] = """
    WITH held AS (SELECT {{ held | sql }} AS held FROM {{ source | sql }})
    SELECT held.held, {{ held | sql }} FROM held
    """
    found = query(
        "q",
        tables={"held": "held_2"},
        columns={"held": "n"},
        held=exp.column("held", table="held", quoted=True),
        source=exp.table_("held", quoted=True),
    )
    assert found.sql("duckdb") == (
        'WITH "held_2" AS (SELECT "held"."held" AS "n" FROM "held") '
        'SELECT "held_2"."n", "held"."held" FROM "held_2"'
    )


def test_an_operand_is_put_in_parentheses(templates: dict[str, str]) -> None:
    templates["q"] = (
        "SELECT {{ e | sql }} IS TRUE, NOT {{ e | sql }}, {{ n | sql }} * 2, {{ e | sql }}"
    )
    two = exp.and_("a", "b")
    assert (
        query("q", e=two, n=exp.Add(this=exp.column("a"), expression=exp.column("b"))).sql("duckdb")
        == "SELECT (a AND b) IS TRUE, NOT (a AND b), (a + b) * 2, a AND b"
    )


def test_lists_and_queries_of_a_with(templates: dict[str, str]) -> None:
    """Of the comments, those of queries stay; a comma behind the last column is DuckDB's."""
    templates["q"] = """
    -- reads: nothing
    WITH
    {{ before | ctes }}
    -- the last
    three AS (
      SELECT {{ pair | cells }},
      FROM one
    )
    SELECT * FROM three GROUP BY {{ pair | ordinals }} ORDER BY COUNT(*) DESC, 1
    """
    one, other = (exp.Literal.number(n) for n in (1, 2))
    before = [exp.CTE(this=exp.select(one), alias=exp.TableAlias(this=exp.to_identifier("one")))]
    assert query("q", before=before, pair=[one, other]).sql("duckdb") == (
        'WITH one AS (SELECT 1), "three" /* the last */ AS (SELECT 1, 2 FROM "one") '
        'SELECT * FROM "three" GROUP BY 1, 2 ORDER BY COUNT(*) DESC, 1'
    )


def test_an_empty_list_of_a_query_is_refused(templates: dict[str, str]) -> None:
    templates["q"] = "SELECT {{ none_of_them | cells }}"
    with pytest.raises(RenderError, match="empty"):
        query("q", none_of_them=[])


@pytest.mark.parametrize("template", ["{{ text }}", "{{ text | sql }}", "{{ [text] | cells }}"])
def test_plain_text_is_refused_in_an_expression_too(
    templates: dict[str, str], template: str
) -> None:
    templates["q"] = f"SELECT {template}"
    with pytest.raises(RenderError):
        query("q", text="1; DROP TABLE t")
