"""Schemes and scheme documents that do not fit their columns; every message by hand."""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.column import Column, Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.scheme import Scheme, from_levels
from sqlanon.domain.scheme_json import from_document
from sqlanon.engines.protocol import Kind
from sqlanon.errors import SchemeError

TREE = Hierarchy.from_rows([["Black", "*"], ["White", "*"], ["Other", "*"]], "race.csv")
AGE = Column(IntervalDomain.of_range("age", Kind.INTEGER, 0, 100, 5))
RACE = Column(ValueDomain("race", Kind.TEXT, TREE.leaves), TREE)
GOOD = {"age": {"cuts": [25]}, "race": {"level": 0}}


def refusal(document: Any, columns: tuple[Column, ...] = (AGE, RACE)) -> str:
    with pytest.raises(SchemeError) as caught:
        from_document(document, columns, "s.json")
    return str(caught.value)


def entry_refusal(column: Column, entry: Any) -> str:
    """The message without the place it speaks of."""
    message = refusal({"version": 1, "columns": {column.name: entry}}, (column,))
    where = f"s.json: column {column.name!r}: "
    assert message.startswith(where)
    return message.removeprefix(where)


def test_the_good_document_is_read() -> None:
    assert from_document({"columns": GOOD}, (AGE, RACE)).partitions == (
        Partition(20, (4,)),
        Partition(3, (0, 1)),
    )


@pytest.mark.parametrize("document", [None, [], "x", {}, {"columns": []}, {"age": {"cuts": []}}])
def test_no_columns(document: Any) -> None:
    assert refusal(document).startswith("s.json: is no ")
    assert 'expected an object with "columns"' in refusal(document)


def test_domains_are_per_column() -> None:
    assert refusal({"columns": GOOD, "domains": []}) == (
        "s.json: domains: expected columns with their values"
    )


@pytest.mark.parametrize("version", [4, 0, "1", None, True, 1.0])
def test_version(version: Any) -> None:
    assert refusal({"version": version, "columns": GOOD}) == (
        f"s.json: format version {version!r} is not supported; "
        "this sqlanon reads versions 1 to 3 of a scheme"
    )


def test_another_format() -> None:
    assert refusal({"format": "sqlanon certificate", "version": 2, "columns": GOOD}) == (
        "s.json: its format is 'sqlanon certificate', not 'sqlanon scheme'"
    )


def test_another_recoding() -> None:
    """As of a later version."""
    assert refusal({"version": 3, "recoding": "cascade", "nodes": []}) == (
        "s.json: recoding 'cascade' is not supported; this sqlanon reads 'global' and "
        "'multidimensional'"
    )


def test_unknown_columns() -> None:
    assert refusal({"columns": {**GOOD, "rase": {"level": 0}}}) == (
        "s.json: 'rase' is not a quasi-identifier of the policy; did you mean 'race'?"
    )
    assert refusal({"columns": {**GOOD, "zip": {"level": 0}}}) == (
        "s.json: 'zip' is not a quasi-identifier of the policy; there are age, race"
    )


def test_missing_columns() -> None:
    assert refusal({"columns": {"race": {"level": 0}}}) == "s.json: no partition for 'age'"
    assert refusal({"columns": {}}) == "s.json: no partition for 'age', 'race'"


@pytest.mark.parametrize("entry", [None, [25], 1, {}, {"null": "apart"}, {"cuts": [], "level": 0}])
def test_wrong_form(entry: Any) -> None:
    assert entry_refusal(AGE, entry) == (
        f"expected one of cuts, groups, level, runs, found {entry!r}"
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"cuts": 25}, "cuts is not a list"),
        ({"groups": {"a": 1}}, "groups is not a list"),
        ({"cuts": [], "nul": "apart"}, "unknown key 'nul' beside 'cuts'"),
        ({"cuts": [], "hierarchy": "x"}, "unknown key 'hierarchy' beside 'cuts'"),
        ({"level": 0, "nul": "apart"}, "unknown key 'nul' beside 'level'"),
        ({"groups": [], "hierarchy": "x"}, "unknown key 'hierarchy' beside 'groups'"),
        ({"level": -1}, "level -1 is not one of 0 to 1"),
        ({"level": 2}, "level 2 is not one of 0 to 1"),
        ({"level": "1"}, "level '1' is not one of 0 to 1"),
        ({"level": True}, "level True is not one of 0 to 1"),
        ({"cuts": ["x"]}, "'x' is not a value of kind integer"),
        ({"cuts": [None]}, "None is not a value of kind integer"),
        ({"cuts": [True]}, "True is not a value of kind integer"),
        ({"cuts": [[25]]}, "[25] is not a value of kind integer"),
    ],
)
def test_entries(entry: Any, message: str) -> None:
    assert entry_refusal(AGE, entry) == message


RUNS = {
    "runs": [["Black", 0]],
    "hierarchy": TREE.fingerprint,
    "domain": RACE.domain.fingerprint_of_values,
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": [["Black", 0, 1]]}, "run ['Black', 0, 1] is not [first value, level]"),
        ({"runs": [["Black", 2]]}, "level 2 is not one of 0 to 1"),
        ({"runs": [["Black", True]]}, "level True is not one of 0 to 1"),
        ({"runs": [["White", 0]]}, "the first run does not begin with the first value"),
        ({"runs": []}, "the first run does not begin with the first value"),
        ({"runs": [["Black", 0], ["Grey", 0]]}, "'Grey' is not in the domain"),
        ({"runs": [["Black", 0], ["Other", 0], ["White", 0]]}, "'White' is not in the domain, or"),
        ({"domain": "0"}, "the values of the column or their hierarchy have changed"),
        ({"hierarchy": "0"}, "the values of the column or their hierarchy have changed"),
        ({"level": 0}, "expected one of"),
        ({"cut": 0}, "unknown key 'cut' beside 'runs'"),
    ],
)
def test_runs(changes: dict[str, Any], message: str) -> None:
    assert entry_refusal(RACE, RUNS | changes).startswith(message)


def test_runs_without_their_hierarchy() -> None:
    """Its levels would mean something else."""
    flat = Column(RACE.domain)
    assert "their hierarchy have changed" in entry_refusal(flat, RUNS)


@pytest.mark.parametrize("cut", [27, 0, 100, -5])
def test_cuts_are_left_ends(cut: int) -> None:
    assert entry_refusal(AGE, {"cuts": [25, cut]}) == (
        f"{cut} is not a place to cut; cuts are left ends of atoms other than the first: "
        "5, 10, 15, 20, 25, …"
    )


def test_cuts_of_short_domains() -> None:
    six = Column(ValueDomain("c", Kind.INTEGER, (1, 2, 3, 4, 5, 6)))
    assert entry_refusal(six, {"cuts": [7]}).endswith("the first: 2, 3, 4, 5, 6")
    one = Column(ValueDomain("c", Kind.INTEGER, (1,)))
    assert entry_refusal(one, {"cuts": [1]}).endswith("the first: none")


def test_cuts_need_an_order() -> None:
    assert entry_refusal(RACE, {"cuts": ["White"]}) == (
        "cuts need an ordered column; write groups or a level"
    )


def test_null_beside_cuts() -> None:
    column = Column(ValueDomain("c", Kind.INTEGER, (1, 2, 5), has_null=True))
    assert entry_refusal(column, {"cuts": [2]}) == (
        'the column has NULLs; say "null": "apart" or "merged"'
    )
    assert entry_refusal(column, {"cuts": [2], "null": "merged"}) == (
        "NULL can be merged only when there are no cuts"
    )
    wrong: list[Any] = ["together", False, []]
    for null in wrong:
        assert entry_refusal(column, {"cuts": [], "null": null}) == (
            f'null is {null!r}, not "apart" or "merged"'
        )


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([["Black"], "White"], "group 2 is not a list of values"),
        ([["Black", "White", "Other"], []], "group 2 is not a list of values"),
        ([["Black", "White"], ["Other", "White"]], "'White' is in two groups"),
        ([["Black", "White", "Black"], ["Other"]], "'Black' is listed twice"),
        ([["Black", "Green"]], "'Green' is not in the domain"),
        ([["Black", "White", "Other", None]], "None is not in the domain"),
        ([["Black", {}]], "{} is not a value of kind text"),
        ([["Black"]], "no group has 'White', 'Other'"),
        ([], "no group has 'Black', 'White', 'Other'"),
        (
            [["Black", "Other"], ["White"]],
            "a group is not a run of neighbours in the order of the domain",
        ),
    ],
)
def test_groups(groups: list[Any], message: str) -> None:
    assert entry_refusal(RACE, {"groups": groups}) == message


def test_one_value_in_two_spellings() -> None:
    column = Column(ValueDomain("c", Kind.INTEGER, (2, 1)))
    assert entry_refusal(column, {"groups": [[2, 1, "1.0"]]}) == "'1.0' is listed twice"
    assert entry_refusal(column, {"groups": [[2, 1], ["2"]]}) == "'2' is in two groups"


def test_groups_with_null() -> None:
    column = Column(ValueDomain("c", Kind.TEXT, ("a", "b"), has_null=True))
    assert entry_refusal(column, {"groups": [["a"], ["b", None]]}) == (
        "null shares a group with values; it stands apart or all is one"
    )
    assert entry_refusal(column, {"groups": [["a"], ["b"]]}) == "no group has 'NULL'"
    assert entry_refusal(column, {"groups": [["a", "b", None, None]]}) == "None is listed twice"


def test_a_changed_hierarchy() -> None:
    message = (
        "the hierarchy has changed since the scheme was written, so level 1 may mean something "
        "else; search again, or write the scheme as groups"
    )
    assert entry_refusal(RACE, {"level": 1, "hierarchy": "5f0c"}) == message
    flat = Column(RACE.domain, None, Family.FULL_DOMAIN)
    assert entry_refusal(flat, {"level": 1, "hierarchy": TREE.fingerprint}) == message


def test_schemes_fit_their_columns() -> None:
    nullable = Column(ValueDomain("c", Kind.TEXT, ("a", "b"), has_null=True))
    with pytest.raises(SchemeError) as caught:
        Scheme((RACE,), (Partition.whole(4),))
    assert str(caught.value) == "column 'race' has 3 atoms, its partition speaks of 4"
    with pytest.raises(SchemeError) as caught:
        Scheme((nullable,), (Partition(3, (0,)),))
    assert str(caught.value) == (
        "column 'c': NULL shares a group with a neighbour; "
        "it stands apart unless the whole column is one group"
    )
    with pytest.raises(SchemeError) as caught:
        from_levels((AGE, RACE), (0, 2))
    assert str(caught.value) == "column 'race' has levels 0 to 1, not 2"
    with pytest.raises(KeyError):
        from_levels((RACE,), (0,))["age"]
