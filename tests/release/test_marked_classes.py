"""Marked rows are a class of the release, so a scheme is feasible only if they hold too.

By hand: towns A and B have four people each, half with flu and half with a cold; C has three, who
all have gout; D has one, with flu. With a limit of a third at most four of twelve rows are marked.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.errors import VerificationError

ILL = {"A": ["flu", "flu", "cold", "cold"], "B": ["flu", "flu", "cold", "cold"],
       "C": ["gout"] * 3, "D": ["flu"]}  # fmt: skip


def loaded(connection: duckdb.DuckDBPyConnection, towns: str, **privacy: Any) -> Any:
    connection.execute("CREATE TABLE source (town VARCHAR, ill VARCHAR)")
    rows = [(town, ill) for town in towns for ill in ILL[town]]
    connection.executemany("INSERT INTO source VALUES (?, ?)", rows)
    homogeneity = {"accept": "it is in the test"}
    policy: dict[str, Any] = {
        "source": {"table": "source"},
        "columns": {"town": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        "one_row_per_person": True,
        "privacy": privacy if "l_diversity" in privacy else privacy | {"homogeneity": homogeneity},
        "suppression": {"limit": 0.34, "rows": "mark"},
        "publish": {"to": "released"},
    }
    if "k_map" in privacy:
        policy["population"] = {"table": "source"}
    return sqlanon.load(policy, connection=connection)


def scheme(towns: str) -> dict[str, Any]:
    return {"columns": {"town": {"groups": [[town] for town in towns]}}}


@pytest.mark.parametrize(
    ("towns", "privacy", "feasible"),
    [
        ("ABD", {"k": 2}, False),  # D is marked, alone
        ("ABCD", {"k": 4}, True),  # C and D are marked: four people
        ("ABC", {"k": 2, "l_diversity": {"l": 2}}, False),  # C is marked: gout only
        ("ABCD", {"k": 2, "l_diversity": {"l": 2}}, True),  # C and D: gout and flu
        ("ABCD", {"k": 4, "k_map": 2}, False),  # nobody fits the marker
        ("AB", {"k": 4, "k_map": 2}, True),  # nothing is marked
    ],
)
def test_measure_utility_and_publish_agree(
    towns: str, privacy: dict[str, Any], feasible: bool
) -> None:
    with (
        duckdb.connect() as connection,
        loaded(connection, towns, **privacy) as anonymizer,
    ):
        assert anonymizer.measure(scheme(towns)).feasible is feasible
        assert anonymizer.utility(scheme(towns), queries=1).feasible is feasible
        if feasible:
            anonymizer.publish(scheme(towns))
        else:
            with pytest.raises(VerificationError):
                anonymizer.publish(scheme(towns))


def test_marked_people_are_counted_where_rows_are_not_people() -> None:
    """Two rows of one person in C are marked: two rows, and too few people for k = 2."""
    with duckdb.connect() as connection:
        people = "(VALUES ('A', 1), ('A', 2), ('C', 3), ('C', 3))"
        connection.execute(f"CREATE TABLE source AS FROM {people} t(town, who)")
        policy = {
            "source": {"table": "source"},
            "columns": {"town": {"role": "quasi"}},
            "subject": "who",
            "privacy": {"k": 2},
            "suppression": {"limit": 0.5, "rows": "mark"},
            "publish": {"to": "released"},
        }
        with sqlanon.load(policy, connection=connection) as anonymizer:
            solution = anonymizer.measure(scheme("AC"))
            assert (solution.suppressed, solution.feasible) == (2, False)
            assert "too few or too alike" in solution.shortfalls(2)[0]
            with pytest.raises(VerificationError):
                anonymizer.publish(scheme("AC"))


@pytest.mark.parametrize(
    ("method", "groups"),
    [
        # A by itself, B with C: marking C alone would lose less, but C has only gout.
        ("auto", [["A"], ["B", "C"]]),
        ("nsga2", [["A"], ["B", "C"]]),
        # Without a hierarchy a lattice has the towns, or none of them.
        ("optimal", [["A", "B", "C"]]),
        ("front", [["A", "B", "C"]]),
        ("exhaustive", [["A", "B", "C"]]),
    ],
)
def test_a_search_chooses_what_can_be_published(method: str, groups: list[list[str]]) -> None:
    with (
        duckdb.connect() as connection,
        loaded(connection, "ABC", k=2, l_diversity={"l": 2}) as anonymizer,
    ):
        result = anonymizer.search(method=method)
        assert result.solution is not None
        assert result.solution.to_dict()["columns"]["town"]["groups"] == groups
        assert any("marks rows" in note for note in result.notes)
        anonymizer.publish(result)


def test_patience_ends_each_of_the_two_searches() -> None:
    """The first marks C; the second, which marks nothing, is not skipped for its patience."""
    with (
        duckdb.connect() as connection,
        loaded(connection, "ABC", k=2, l_diversity={"l": 2}) as anonymizer,
    ):
        result = anonymizer.search(method="nsga2", watch=sqlanon.Watch(patience=3))
        assert result.solution is not None
        assert result.solution.to_dict()["columns"]["town"]["groups"] == [["A"], ["B", "C"]]
        assert (result.stopped, result.reproducible) == ("patience", True)
        assert result.evaluations["asked"] >= 2 * 4 * 100
        assert any("a search that marks nothing included" in note for note in result.notes)


def test_what_was_interrupted_claims_no_second_search() -> None:
    watch = sqlanon.Watch()
    watch.interrupt()
    with (
        duckdb.connect() as connection,
        loaded(connection, "ABC", k=2, l_diversity={"l": 2}) as anonymizer,
    ):
        result = anonymizer.search(method="nsga2", watch=watch)
        assert result.stopped == "interrupted"
        assert any("ended before one that marks nothing" in note for note in result.notes)
