"""A staged release is held to its privacy models, whatever the search has said of them."""

from __future__ import annotations

import dataclasses

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.audit.auditor import Population, reference_of
from sqlanon.audit.staged_release import Expected, Facts, verify_release
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source
from sqlanon.errors import UncoveredValueError
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.k_map import KMap
from sqlanon.privacy.l_diversity import DistinctDiversity
from sqlanon.privacy.t_closeness import Closeness, Distance

# Two classes of four people: x has flu twice, gout once and NULL once, y has flu only.
STAGED = """
    CREATE TABLE staged AS FROM (VALUES
        ('x', 'flu', 1), ('x', 'flu', 2), ('x', 'gout', 3), ('x', NULL, 4),
        ('y', 'flu', 5), ('y', 'flu', 6), ('y', 'flu', 7), ('y', 'flu', 8)
    ) v (town, ill, person)
"""
EXPECTED = Expected(
    columns=("town", "ill"),
    k=4,
    quasi={"town": frozenset({"x", "y"})},
    source_rows=8,
    most_left_out=0,
    subject="person",
    verbatim={"ill": None},
    sensitive=("ill",),
)


@pytest.fixture
def staged() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(STAGED)
    return connection


def verified(connection: duckdb.DuckDBPyConnection, **changes: object) -> Facts:
    engine = DuckDBEngine(connection, owned=False)
    expected = dataclasses.replace(EXPECTED, **changes)
    return verify_release(Source.of(engine, exp.to_table("staged")), expected)


def test_without_models_as_before(staged: duckdb.DuckDBPyConnection) -> None:
    assert verified(staged).holds


def test_a_model_that_fails(staged: duckdb.DuckDBPyConnection) -> None:
    one, two = DistinctDiversity("ill", 1), DistinctDiversity("ill", 2)
    assert verified(staged, models=(one,)).holds
    found = verified(staged, models=(one, two))
    assert found.problems == (
        "distinct l = 2 on 'ill': the worst class has 1; 1 of 2 classes violate it; 4 of 8 rows "
        "are in them",
    )
    assert found.audit is not None
    assert [each.holds for each in found.audit.models] == [True, False]


def test_the_reference_is_the_whole_source(staged: duckdb.DuckDBPyConnection) -> None:
    """With 12 of 12 people with flu in the source x is 1/2 away; in the table of 8 it is 1/4."""
    model = Closeness("ill", 0.25, Distance.EQUAL)
    assert verified(staged, models=(model,)).holds
    whole = open_source(data=pa.table({"ill": ["flu"] * 12, "person": range(12)}))
    reference = {"ill": reference_of(whole, "ill", "person")}
    (problem,) = verified(staged, models=(model,), reference=reference).problems
    assert problem.startswith("t = 0.25 (equal distance) on 'ill': the worst class has 0.5; 1 of 2")


def test_values_that_were_suppressed_count_in_the_reference(
    staged: duckdb.DuckDBPyConnection,
) -> None:
    staged.execute("DELETE FROM staged WHERE town = 'y'")
    model = DeltaDisclosure("ill", 9.0)
    assert verified(staged, models=(model,), source_rows=4).holds
    whole = open_source(data=pa.table({"ill": ["flu", "gout", None, "scurvy"]}))
    reference = {"ill": reference_of(whole, "ill")}
    (problem,) = verified(staged, models=(model,), source_rows=4, reference=reference).problems
    assert "the worst class has no bound" in problem


def test_a_hierarchy(staged: duckdb.DuckDBPyConnection) -> None:
    model = Closeness("ill", 0.2, Distance.HIERARCHICAL)
    rows = [["flu", "ill"], ["gout", "ill"]]
    found = verified(staged, models=(model,), hierarchies={"ill": Hierarchy.from_rows(rows, "h")})
    assert found.problems[0].startswith("t = 0.2 (hierarchical distance) on 'ill': the worst class")
    without = Hierarchy.from_rows(rows[:1], "h.csv")
    with pytest.raises(UncoveredValueError, match=r"h\.csv has no leaf for 1 value of the sens"):
        verified(staged, models=(model,), hierarchies={"ill": without})
    assert verified(staged, models=(model,)).problems == (
        "k cannot be counted: t = 0.2 (hierarchical distance) on 'ill' needs a hierarchy of 'ill'; "
        "give one",
    )


def test_a_population(staged: duckdb.DuckDBPyConnection) -> None:
    staged.execute(
        "CREATE TABLE everyone AS FROM (VALUES ('x', 1), ('x', 1), ('y', 2), ('y', 3), ('z', 4)) "
        "v (town, who)"
    )
    two = (KMap(None, 2),)
    everyone = open_source(connection=staged, table="everyone")
    assert verified(staged, models=two, population=Population(everyone)).holds
    found = verified(staged, models=two, population=Population(everyone, "who"))
    assert found.problems == (
        "k-map k = 2: the worst class has 1; 1 of 2 classes violate it; 4 of 8 rows are in them",
    )
    assert verified(staged, models=two).problems == (
        "k cannot be counted: k-map k = 2 speaks of a population; give one",
    )


def test_a_model_of_a_column_that_is_missing(staged: duckdb.DuckDBPyConnection) -> None:
    staged.execute("ALTER TABLE staged DROP COLUMN ill")
    found = verified(staged, models=(DistinctDiversity("ill", 1),))
    assert found.problems == (
        "the staged table lacks 'ill'",
        "distinct l = 1 on 'ill' cannot be counted: the staged table lacks the column",
    )


def test_a_column_that_no_model_covers(staged: duckdb.DuckDBPyConnection) -> None:
    for reason in (None, "", " "):
        found = verified(staged, uncovered_sensitive=("ill",), homogeneity=reason)
        assert found.problems == (
            "no privacy model covers the sensitive column 'ill', so all people of a class may "
            "share one value; add a model such as `l_diversity` to privacy, or "
            '`homogeneity: {accept: "reason"}`',
        )
    found = verified(staged, uncovered_sensitive=("ill",), homogeneity="it is public anyway")
    assert found.holds
    assert found.warnings[0] == (
        "no privacy model covers the sensitive column 'ill'; accepted: it is public anyway"
    )


def test_an_empty_table_is_one_problem(staged: duckdb.DuckDBPyConnection) -> None:
    staged.execute("DELETE FROM staged")
    found = verified(staged, models=(DistinctDiversity("ill", 2),), most_left_out=8)
    assert found.problems == ("the staged table is empty; there is nothing to release",)
