"""A collation of a column or of the reader's session joins no classes, and multiplies no rows."""

from __future__ import annotations

import duckdb
import pytest
from small_recipes import recipe
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.presentation import Form
from sqlanon.engines.protocol import Kind
from sqlanon.release.compile import compile_release, release_text, statement_text

TABLE = exp.table_("t", quoted=True)
FORMS = [Form.CASE, Form.JOIN]


def towns(*values: str, form: Form) -> Generalized:
    domain = ValueDomain("town", Kind.TEXT, values)
    return Generalized(Column(domain), Partition.atoms(len(values)), "VARCHAR", form=form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("type_", ["VARCHAR", "VARCHAR COLLATE NOCASE"])
def test_a_guarded_view_shows_no_other_spelling(type_: str, form: Form) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (town {type_})")
        connection.execute("INSERT INTO t VALUES ('Bonn'), ('Bonn'), ('Bonn'), ('bONn')")
        text = release_text(recipe(towns("Bonn", form=form), k=3, source=TABLE), guarded=True)
        connection.execute(f"CREATE VIEW v AS {text}")
        for setting in ("", "nocase"):
            connection.execute(f"SET default_collation = '{setting}'")
            assert connection.execute("FROM v").fetchall() == [("Bonn",)] * 3


@pytest.mark.parametrize("form", FORMS)
def test_spellings_in_the_scheme_stay_apart(form: Form) -> None:
    """Joined, the classes of one and two would be large enough; so would rows met twice."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (town VARCHAR)")
        connection.execute("INSERT INTO t VALUES ('Bonn'), ('bonn'), ('bonn')")
        connection.execute("SET default_collation = 'nocase'")
        made = recipe(towns("Bonn", "bonn", form=form), source=TABLE, suppress=True)
        select = statement_text(compile_release(made).select, "duckdb")
        assert connection.execute(select).fetchall() == [("bonn",)] * 2


def test_subjects_that_the_database_takes_for_equal_are_one_person() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (town VARCHAR, id VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('Bonn', 'a'), ('Bonn', 'A'), ('Bonn', 'b')")
        made = recipe(towns("Bonn", form=Form.CASE), k=3, source=TABLE, subject="id")
        text = release_text(made, guarded=True)
        assert connection.execute(text).fetchall() == []


@pytest.mark.parametrize(
    ("dialect", "collation"), [("postgres", '"C"'), ("spark", "`UTF8_BINARY`"), ("bigquery", None)]
)
def test_every_dialect_has_its_own_name_for_it(dialect: str, collation: str | None) -> None:
    text = release_text(recipe(towns("Bonn", form=Form.CASE), source=TABLE), dialect, guarded=True)
    assert 'binary"' not in text
    assert f"COLLATE {collation}" in text if collation else "COLLATE" not in text
