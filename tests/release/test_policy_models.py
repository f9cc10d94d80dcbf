"""From a policy with privacy models and a population to the SQL of its release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from scheme_columns import from_bits

from sqlanon.counting.sources import open_lent_source, open_policy_source, population_source
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column
from sqlanon.domain.scheme import Scheme
from sqlanon.engines.protocol import Kind, Source
from sqlanon.errors import EngineError, PolicyError
from sqlanon.policy.policy import Policy, parse_policy
from sqlanon.release.compile import release_text
from sqlanon.release.order import header_of, order_of

PEOPLE = """
CREATE TABLE people AS
FROM (VALUES ('F', 'flu'), ('F', 'cold'), ('M', 'flu'), ('M', 'flu')) AS t (sex, disease)
"""
EVERYBODY = "CREATE TABLE everybody AS FROM (VALUES ('F', 1), ('F', 1), ('M', 2)) AS t (sex, who)"
SEX = Column(ValueDomain("sex", Kind.TEXT, ("F", "M")))


def policy_of(**sections: Any) -> Policy:
    document = {
        "source": {"table": "people"},
        "columns": {
            "sex": {"role": "quasi", "values": ["F", "M"]},
            "disease": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "suppression": {"limit": 1.0},
        **sections,
    }
    return parse_policy(document)


def scheme() -> Scheme:
    return from_bits((SEX,), [True])


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(PEOPLE)
    connection.execute(EVERYBODY)
    return connection


def released(policy: Policy, source: Source, connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.execute(release_text(order_of(policy, source, scheme()))).fetchall()


def test_models_of_a_policy(connection: duckdb.DuckDBPyConnection) -> None:
    policy = policy_of(privacy={"k": 2, "l_diversity": {"l": 2}})
    source = open_lent_source(policy, connection)
    assert released(policy, source, connection) == [("F", "cold"), ("F", "flu")]
    assert header_of(order_of(policy, source, scheme()), 2)[2:] == [
        "k = 2, required 2",
        "required of every class: distinct l = 2 on 'disease'",
        "leaves out classes of fewer than 2 rows and those that violate a model",
    ]


@pytest.mark.parametrize(
    ("changes", "guarded", "said"),
    [
        ({}, False, "leaves out classes of fewer than 2 rows"),
        ({"subject": "who"}, False, "leaves out classes of fewer than 2 people"),
        (
            {"suppress": False},
            False,
            "suppresses no class: publish refuses classes of fewer than 2 rows",
        ),
        ({"marker": "(few)"}, False, "marks the rows of classes of fewer than 2 rows with '(few)'"),
        ({}, True, "leaves out classes of fewer than 2 rows, whenever the view is read"),
    ],
)
def test_the_comment_says_what_happens_to_small_classes(
    changes: dict[str, Any], guarded: bool, said: str, connection: duckdb.DuckDBPyConnection
) -> None:
    policy = policy_of(privacy={"k": 2})
    source = open_lent_source(policy, connection)
    order = replace(order_of(policy, source, scheme()), **changes)
    assert header_of(order, 2, guarded=guarded)[-1] == said


@pytest.mark.parametrize(
    ("population", "rows"),
    [
        ({"table": "everybody"}, [("F", "cold"), ("F", "flu")]),
        ({"query": "SELECT * FROM everybody WHERE who = 2"}, []),
        ({"table": "everybody", "subject": "who"}, []),
    ],
)
def test_a_population_beside_the_source(
    connection: duckdb.DuckDBPyConnection, population: dict[str, str], rows: list[Any]
) -> None:
    """Of the population two rows but only one person are F."""
    policy = policy_of(privacy={"k": 1, "k_map": 2}, population=population)
    assert released(policy, open_lent_source(policy, connection), connection) == rows


def test_a_population_in_a_file(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file = tmp_path / "everybody.csv"
    connection.execute(f"COPY everybody TO '{file}'")
    policy = policy_of(privacy={"k": 1, "k_map": 2}, population={"file": str(file)})
    source = open_lent_source(policy, connection)
    assert released(policy, source, connection) == [("F", "cold"), ("F", "flu")]
    recipe = order_of(policy, source, scheme(), "postgres")
    assert recipe.header[0].startswith("reads a table 'everybody'; copy ")
    assert 'FROM "everybody" AS "population"' in release_text(recipe, "postgres")


def test_the_database_of_the_population(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    for name in ("one", "other"):
        with duckdb.connect(tmp_path / f"{name}.duckdb") as made:
            made.execute(PEOPLE)
            made.execute(EVERYBODY)
    one = f"duckdb:///{tmp_path / 'one.duckdb'}"
    sections: dict[str, Any] = {"privacy": {"k": 1, "k_map": 2}}
    sections["source"] = {"connection": one, "table": "people"}
    for address in (one, f"duckdb:///{tmp_path}/./one.duckdb"):
        sections["population"] = {"connection": address, "table": "everybody"}
        policy = policy_of(**sections)
        source = open_policy_source(policy)
        found = population_source(policy, source)
        assert found is not None
        assert found.engine is source.engine
        source.engine.close()
    for address in (one.replace("one", "other"), "postgresql://somewhere/else", "duckdb://"):
        sections["population"] = {"connection": address, "table": "everybody"}
        policy = policy_of(**sections)
        source = open_policy_source(policy)
        with pytest.raises(PolicyError, match="another database than the source's") as refused:
            population_source(policy, source)
        assert address not in str(refused.value)
        source.engine.close()


@pytest.mark.parametrize(
    ("population", "error", "message"),
    [
        ({"table": "everybodi"}, EngineError, "population: .*no table 'everybodi'"),
        ({"query": "SELECT 1 AS s"}, PolicyError, "column 'sex' is not in query"),
        ({"query": "SELECT 1 AS sex"}, PolicyError, "'sex' is INTEGER, the source's is VARCHAR"),
        ({"table": "everybody", "subject": "woh"}, PolicyError, "'woh' is not .*mean 'who'"),
    ],
)
def test_a_population_that_does_not_fit(
    connection: duckdb.DuckDBPyConnection,
    population: dict[str, str],
    error: type[Exception],
    message: str,
) -> None:
    policy = policy_of(privacy={"k": 1, "k_map": 2}, population=population)
    with pytest.raises(error, match=message):
        population_source(policy, open_lent_source(policy, connection))


def test_a_policy_without_a_population(connection: duckdb.DuckDBPyConnection) -> None:
    policy = policy_of(privacy={"k": 1})
    assert population_source(policy, open_lent_source(policy, connection)) is None
