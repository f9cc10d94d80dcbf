"""A policy says what it means or is refused, each mistake in one line with its key path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from policy_mistakes import BASE, mistakes, of, of_age

from sqlanon.domain.column import Family
from sqlanon.policy.policy import parse_policy, read_policy
from sqlanon.policy.sections import Others, Role

PRIVACY_KEYS = (
    "k, l_diversity, t_closeness, beta_likeness, delta_disclosure, alpha_k, k_map, homogeneity"
)
ROLES = "'identifying', 'quasi', 'sensitive', 'label', 'insensitive' or 'pseudonym'"
COLUMN_KEYS = (
    "role, weight, family, values, range, granularity, hierarchy, min_level, max_level, "
    "open_ends, output, null_label, form, stable, key, accept"
)
SCALAR = "true or false, a number, a date or text"


def test_the_least_policy() -> None:
    section = parse_policy(BASE).section
    assert section.columns["age"].role is Role.QUASI
    assert section.columns["age"].weight == 1
    assert section.columns["age"].family is None
    assert section.others is Others.REFUSE
    assert section.suppression.limit == 0
    assert (section.privacy, section.preference, section.subject) == (None, None, None)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"weight": -1}, "weight: found -1, expected a number of at least 0"),
        ({"weight": "much"}, "weight: found 'much', expected a number of at least 0"),
        ({"weight": True}, "weight: found true, expected a number of at least 0"),
        ({"weight": float("inf")}, "weight: found inf, expected a finite number of at least 0"),
        (
            {"family": "taxonomical"},
            "family: found 'taxonomical', expected 'contiguous', 'taxonomic' or 'full-domain'; "
            "did you mean taxonomic?",
        ),
        ({"values": []}, "values: found [], expected a list of at least one"),
        ({"values": "Black"}, "values: found 'Black', expected a list of at least one"),
        ({"values": [["a"]]}, f"values.0: found ['a'], expected {SCALAR}"),
        ({"range": [0]}, "range: found [0], expected two values, [lowest, highest]"),
        ({"range": [0, 5, 9]}, "range: found [0, 5, 9], expected two values, [lowest, highest]"),
        ({"range": 100}, "range: found 100, expected two values, [lowest, highest]"),
        (
            {"granularity": [5]},
            "granularity: found [5], expected a number or one of day, week, month, quarter, "
            "year, decade",
        ),
        (
            {"hierarchy": 5},
            "hierarchy: found 5, expected the name of a file, or one of the keys intervals, "
            "mask, date and table",
        ),
        ({"hierarchy": {"intervals": []}}, "hierarchy.intervals: found [], expected a list of at "
         "least one"),
        ({"hierarchy": {"intervals": [5, "x"]}}, "hierarchy.intervals.1: found 'x', expected a "
         "number"),
        ({"hierarchy": {"mask": {"character": "ab"}}}, "hierarchy.mask.character: found 'ab', "
         "expected one character"),
        ({"hierarchy": {"mask": {"from": "rigth"}}}, "hierarchy.mask.from: found 'rigth', "
         "expected 'right' or 'left'; did you mean right?"),
        ({"hierarchy": {"date": "day"}}, "hierarchy.date: found 'day', expected a list of at "
         "least one"),
        ({"hierarchy": {"msk": {}}}, "hierarchy.msk: unknown key; did you mean mask?"),
        ({"hierarchy": {"str": 1}}, "hierarchy.str: unknown key; known here: intervals, origin, "
         "mask, date, table"),
        ({"hierarchy": {"mask": {"side": "left"}}}, "hierarchy.mask.side: unknown key; known "
         "here: character, from"),
        ({"wieght": 2}, "wieght: unknown key; did you mean weight?"),
        ({"zzz": 2}, f"zzz: unknown key; known here: {COLUMN_KEYS}"),
        ({7: 2}, f"7: unknown key; known here: {COLUMN_KEYS}"),
    ],
)  # fmt: skip
def test_mistakes_in_a_column(keys: dict[Any, Any], line: str) -> None:
    assert mistakes({**BASE, "columns": {"age": {"role": "quasi", **keys}}}) == [
        f"columns.age.{line}"
    ]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"values": [1], "range": [0, 1], "granularity": 1}, "give the domain as values or as a "
         "range, not both"),
        ({"range": [0, 1]}, "range and granularity go together"),
        ({"granularity": 1}, "range and granularity go together"),
        ({"values": ["a"], "hierarchy": "a.csv"}, "the hierarchy file lists the domain already; "
         "leave values out"),
        ({"role": "sensitive", "weight": 1}, "weight is for quasi-identifiers; the role is "
         "sensitive"),
    ],
)  # fmt: skip
def test_keys_of_a_column_that_contradict_each_other(keys: dict[str, Any], words: str) -> None:
    assert of_age(**keys) == [f"columns.age: {words}"]


def test_a_hierarchy_has_one_builder() -> None:
    several = {"mask": {}, "date": ["day"]}
    one_of = "columns.age.hierarchy: give one of intervals, mask, date and table, not"
    assert of_age(hierarchy=several) == [f"{one_of} mask and date"]
    assert of_age(hierarchy={}) == [f"{one_of} none of them"]
    assert of_age(hierarchy={"mask": {}, "origin": 3}) == [
        "columns.age.hierarchy: origin is for intervals; leave it out"
    ]


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ({}, "columns: found {}, expected columns, such as age: {role: quasi}"),
        (["age"], "columns: found ['age'], expected columns, such as age: {role: quasi}"),
        ({"age": None}, f"columns.age: found nothing, expected keys such as {COLUMN_KEYS}"),
        (
            {"age": "quasi"},
            f"columns.age: found 'quasi', expected keys such as {COLUMN_KEYS}; did you mean "
            "{role: quasi}?",
        ),
        ({"age": {}}, f"columns.age.role: is missing; expected {ROLES}"),
        (
            {"age": {"role": "Qasi"}},
            f"columns.age.role: found 'Qasi', expected {ROLES}; did you mean quasi?",
        ),
        (
            {True: {"role": "quasi"}},
            "columns.True: the name is True, not text; put it in quotes, because YAML takes "
            "numbers, dates and words such as yes, no and on for other things",
        ),
        (
            {"age": {"role": "sensitive"}},
            "columns: no column has the role quasi, so there is nothing to generalize",
        ),
        (
            {"a": {"role": "label"}, "b": {"role": "label"}, "c": {"role": "quasi"}},
            "columns: at most one column can be the label, not 'a' and 'b'",
        ),
        (
            {"a": {"role": "quasi", "weight": 0}, "b": {"role": "quasi", "weight": 0}},
            "columns: the weights are all 0; only their ratios matter, 1 is usual",
        ),
        (
            {"a": {"role": "quasi", "weight": 1e308}, "b": {"role": "quasi", "weight": 1e308}},
            "columns: the weights are too large; only their ratios matter, 1 is usual",
        ),
    ],
)
def test_mistakes_in_the_columns(columns: Any, line: str) -> None:
    assert of(columns=columns) == [line]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"privacy": {"k": 0}}, "privacy.k: found 0, expected a whole number of at least 1"),
        ({"privacy": {"k": 2.5}}, "privacy.k: found 2.5, expected a whole number of at least 1"),
        ({"privacy": {"k": "5"}}, "privacy.k: found '5', expected a whole number of at least 1"),
        ({"privacy": {"k": True}}, "privacy.k: found true, expected a whole number of at least 1"),
        ({"privacy": {}}, "privacy.k: is missing; expected a whole number of at least 1"),
        ({"privacy": 5}, f"privacy: found 5, expected keys such as {PRIVACY_KEYS}"),
        ({"preference": {"nwp": 2, "necd": 0}}, "preference.nwp: found 2, expected a number from "
         "0 to 1"),
        ({"preference": {"nwp": 0.5}}, "preference.necd: is missing; expected a number from 0 to "
         "1, the necd welcome"),
        ({"suppression": {"limit": -0.1}}, "suppression.limit: found -0.1, expected a number "
         "from 0 to 1"),
        ({"suppression": {"limit": 0.1}}, "suppression.limit: needs privacy.k, because rows of "
         "smaller classes are left out"),
        ({"others": "keep"}, "others: found 'keep', expected 'refuse', 'drop' or 'insensitive'"),
        ({"sources": {}}, "sources: unknown key; did you mean source?"),
        ({"source": "people.csv"}, "source: found 'people.csv', expected keys such as "
         "connection, table, query, file, histogram"),
        ({"source": {"table": "t", "file": "f.csv"}}, "source: give one of table, query and "
         "file, not table and file"),
        ({"source": {"connection": "duckdb://", "file": "f.csv"}}, "source: a file needs no "
         "connection; leave one of the two out"),
        ({"one_row_per_person": "yes"}, "one_row_per_person: found 'yes', expected true or "
         "false"),
    ],
)  # fmt: skip
def test_mistakes_elsewhere(keys: dict[str, Any], line: str) -> None:
    assert of(**keys) == [line]


def test_somebody_owns_the_rows() -> None:
    columns = {"columns": {"age": {"role": "quasi"}}}
    (line,) = mistakes(columns)
    assert line.startswith("subject: say whose rows these are, either `subject: COLUMN`")
    assert mistakes({**columns, "one_row_per_person": False}) == [line]
    assert of(subject="id") == ["subject: give either this or `one_row_per_person: true`, not both"]
    assert mistakes({**columns, "subject": 3}) == ["subject: found 3, expected text"]
    assert parse_policy({**columns, "subject": "id"}).section.subject == "id"


@pytest.mark.parametrize("role", ["quasi", "sensitive", "label", "insensitive"])
def test_a_subject_is_never_released_as_it_is(role: str) -> None:
    columns = {"age": {"role": "quasi"}, "id": {"role": role}}
    assert mistakes({"columns": columns, "subject": "id"}) == [
        "subject: 'id' tells people apart, so its role can only be identifying or pseudonym, "
        f"not {role}"
    ]
    for allowed in ("identifying", "pseudonym"):
        columns["id"]["role"] = allowed
        assert parse_policy({"columns": columns, "subject": "id"}).section.subject == "id"


def test_all_mistakes_at_once() -> None:
    document = {
        "columns": {"age": {"role": "quasi", "weight": -1, "famly": "x"}, "sex": {}},
        "others": "keep",
        "privacy": {"k": 0},
    }
    assert [line.split(":")[0] for line in mistakes(document)] == [
        "columns.age.weight",
        "columns.age.famly",
        "columns.sex.role",
        "others",
        "privacy.k",
        "subject",
    ]
    consistent = {"columns": {"a": {"role": "label"}, "b": {"role": "label"}}, "subject": "a"}
    assert [line.split(":")[0] for line in mistakes(consistent)] == [
        "subject",
        "columns",
        "columns",
    ]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.b", "'a.b'"),
        ("", "''"),
        ("line\nbreak", r"'line\nbreak'"),
        ('"; DROP TABLE people; --', "'\"; DROP TABLE people; --'"),
        ("marital-status", "marital-status"),
        ("größe", "größe"),
        ("\x1b[2J", r"'\x1b[2J'"),
        ("role", "role"),
    ],
)
def test_hostile_column_names_stay_on_their_line(name: str, written: str) -> None:
    line = f"columns.{written}.role: is missing; expected {ROLES}"
    assert of(columns={name: {}}) == [line]
    assert list(parse_policy({**BASE, "columns": {name: {"role": "quasi"}}}).section.columns) == [
        name
    ]


def test_what_was_found_is_shortened() -> None:
    (line,) = of(others="x" * 10_000)
    assert len(line) < 200
    (line,) = of(privacy=list(range(10_000)))
    assert len(line) < 200


def test_any_mapping_will_do() -> None:
    document: Mapping[str, Any] = MappingProxyType(
        {"columns": MappingProxyType({"age": MappingProxyType({"role": "quasi"})}),
         "one_row_per_person": True}
    )  # fmt: skip
    assert parse_policy(document).fingerprint == parse_policy(BASE).fingerprint


def test_the_fingerprint_is_of_what_is_said(tmp_path: Path) -> None:
    file = tmp_path / "policy.yml"
    file.write_text("one_row_per_person: true\ncolumns: {age: {role: quasi, weight: 1}}\n")
    policy = read_policy(file)
    assert (policy.folder, policy.origin) == (tmp_path, str(file))
    assert policy.fingerprint == parse_policy(BASE).fingerprint
    other = {**BASE, "privacy": {"k": 2}}
    assert policy.fingerprint != parse_policy(other).fingerprint


def test_columns_by_role() -> None:
    columns = {"a": {"role": "label"}, "b": {"role": "quasi", "family": "full-domain"}}
    policy = parse_policy({**BASE, "columns": columns})
    assert policy.label == "a"
    assert policy.columns_with(Role.QUASI)["b"].family is Family.FULL_DOMAIN
    assert parse_policy(BASE).label is None


@pytest.mark.parametrize(
    ("sections", "paths"),
    [
        ({"publish": {"file": "x.txt", "to": 3}}, ["publish.to", "publish.file"]),
        ({"publish": {"file": "x.txt", "order": "up", "mode": "view"}},
         ["publish.order", "publish.file", "publish.mode"]),
        ({"suppression": {"limit": 2, "marker": "x"}},
         ["suppression.limit", "suppression.marker"]),
        ({"columns": {"age": {"role": "label", "weight": -1, "family": "taxonomic"}}},
         ["columns.age.weight", "columns.age"]),
        # What another key is meant to say is not known, so nothing is said about it.
        ({"columns": {"age": {"role": "quasi", "range": [0, 9], "granularty": 5}}},
         ["columns.age.granularty"]),
        ({"columns": {"age": {"role": "quasi", "range": "x", "granularity": 5}}},
         ["columns.age.range"]),
        ({"publish": {"mode": "view", "too": "x"}}, ["publish.too"]),
    ],
)  # fmt: skip
def test_mistakes_between_keys_beside_mistakes_in_others(
    sections: dict[str, Any], paths: list[str]
) -> None:
    document = {**BASE, **sections}
    assert [line.split(":")[0] for line in mistakes(document)] == paths


def test_the_fingerprint_has_no_password() -> None:
    """It is public, so that a password could be guessed with it."""

    def fingerprint(address: str, other: str = "duckdb:///a:b@c.duckdb") -> str:
        source = {"connection": address, "table": "people"}
        place = {"connection": other, "to": "anon"}
        return parse_policy(BASE | {"source": source, "publish": place}).fingerprint

    plain = fingerprint("postgresql://ann@host:5432/db?sslmode=require")
    for address in (
        "postgresql://ann:hunter2@host:5432/db?sslmode=require",
        "postgresql://ann@host:5432/db?sslmode=require&password=hunter2",
        "postgresql://ann:hunter3@host:5432/db?sslmode=require&sslp%61ssword=hunter2",
    ):
        assert fingerprint(address) == plain
    assert fingerprint("postgresql://ann@host:5433/db?sslmode=require") != plain
    assert fingerprint("postgresql://bob@host:5432/db?sslmode=require") != plain
    assert fingerprint("duckdb:///a.duckdb") != fingerprint("duckdb:///a.duckdb", "duckdb:///a")
