"""The keys that say how a release is written: each rule, and what is said when it is broken."""

from __future__ import annotations

from typing import Any

import pytest
from policy_mistakes import BASE, mistakes, of, of_age

from sqlanon.domain.presentation import Form, Mode, Output, RowOrder, SuppressedRows, Unseen
from sqlanon.policy.policy import parse_policy
from sqlanon.policy.sections import Role

RANGE = {"range": [0, 100], "granularity": 5}
SECRET = "sixteen letters!"


def of_id(role: str, **keys: Any) -> list[str]:
    return of(columns={"age": {"role": "quasi"}, "id": {"role": role, **keys}})


def test_defaults() -> None:
    section = parse_policy(BASE).section
    age, publish = section.columns["age"], section.publish
    assert (age.open_ends, age.output, age.null_label) == (None, Output.LABEL, None)
    assert (age.form, age.stable, age.key, age.accept) == (None, False, None, None)
    assert section.suppression.rows is SuppressedRows.LEAVE_OUT
    assert section.suppression.marker == "(suppressed)"
    assert (publish.to, publish.connection, publish.file) == (None, None, None)
    assert (publish.mode, publish.order) == (Mode.TABLE, RowOrder.SORTED)
    assert (publish.unseen, publish.form) == (Unseen.ERROR, Form.AUTO)


def test_everything_at_once() -> None:
    age = {**RANGE, "role": "quasi", "output": "label", "open_ends": True, "form": "join"}
    sex = {"role": "quasi", "null_label": "unknown", "open_ends": False}
    columns = {
        "age": age,
        "sex": sex,
        "id": {"role": "pseudonym", "stable": True, "key": SECRET, "accept": "agreed upon"},
        "city": {"role": "insensitive", "accept": "of the clinic, not of the patient"},
    }
    suppression = {"limit": 0.1, "rows": "mark", "marker": "–"}
    publish = {"to": "shared.people", "order": "shuffled", "unseen": "top", "form": "case"}
    document = {
        "columns": columns,
        "subject": "id",
        "privacy": {"k": 2},
        "suppression": suppression,
        "publish": publish,
    }
    section = parse_policy(document).section
    assert section.columns["age"].output is Output.LABEL
    assert section.columns["age"].open_ends is True
    assert section.columns["age"].form is Form.JOIN
    assert section.columns["sex"].null_label == "unknown"
    assert section.columns["id"].role is Role.PSEUDONYM
    assert section.columns["id"].accept == "agreed upon"
    assert section.suppression.rows is SuppressedRows.MARK
    assert section.suppression.marker == "–"
    assert section.publish.to == "shared.people"
    assert section.publish.unseen is Unseen.TOP


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"open_ends": "yes"}, "open_ends: found 'yes', expected true or false"),
        ({"output": "mid"}, "output: found 'mid', expected 'label', 'lower', 'midpoint' or "
         "'bounds'"),
        ({"output": "midpoints"}, "output: found 'midpoints', expected 'label', 'lower', "
         "'midpoint' or 'bounds'; did you mean midpoint?"),
        ({"output": None}, "output: found nothing, expected 'label', 'lower', 'midpoint' or "
         "'bounds'"),
        ({"null_label": ""}, "null_label: found '', expected text that is not blank"),
        ({"null_label": False}, "null_label: found false, expected text that is not blank"),
        ({"form": "cases"}, "form: found 'cases', expected 'auto', 'case' or 'join'; did you "
         "mean case?"),
        ({"nul_label": "x"}, "nul_label: unknown key; did you mean null_label?"),
        ({"open_end": True}, "open_end: unknown key; did you mean open_ends?"),
    ],
)  # fmt: skip
def test_mistakes_in_a_quasi_identifier(keys: dict[str, Any], line: str) -> None:
    assert of_age(**keys) == [f"columns.age.{line}"]


@pytest.mark.parametrize("output", ["lower", "midpoint", "bounds"])
def test_numbers_need_a_range(output: str) -> None:
    (line,) = of_age(output=output)
    assert line == (
        f"columns.age.output: {output} needs range and granularity, because the ends of what the "
        "data hold would show the lowest and the highest person"
    )
    assert of_age(output=output, values=[1, 2]) == [line]
    assert of_age(output=output, null_label="x", **RANGE) == [
        f"columns.age.null_label: is text, and with output {output} the column holds none; "
        "leave it out or take output label"
    ]
    columns = {"age": {"role": "quasi", "output": output, **RANGE}}
    assert parse_policy({**BASE, "columns": columns}).section.columns["age"].output == output


@pytest.mark.parametrize("other", ["age_low", "AGE_High"])
def test_bounds_take_two_names(other: str) -> None:
    age = {"role": "quasi", "output": "bounds", **RANGE}
    (line,) = of(columns={"age": age, other: {"role": "sensitive"}})
    bound = {"age_low": "age_low", "AGE_High": "age_high"}[other]
    assert line == (
        f"columns: 'age' with output bounds becomes a column {bound!r}, and there is {other!r} "
        "already"
    )
    parse_policy({**BASE, "columns": {"age": age, other: {"role": "identifying"}}})


QUASI_KEYS: dict[str, Any] = {
    "open_ends": True,
    "output": "label",
    "null_label": "unknown",
    "form": "case",
}


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.QUASI])
@pytest.mark.parametrize("key", QUASI_KEYS)
def test_keys_of_quasi_identifiers_only(role: Role, key: str) -> None:
    assert of_id(role, **{key: QUASI_KEYS[key]}) == [
        f"columns.id: {key} is for quasi-identifiers; the role is {role}"
    ]


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.PSEUDONYM])
def test_keys_of_pseudonyms_only(role: Role) -> None:
    assert of_id(role, key=SECRET, stable=True) == [
        f"columns.id: {key} is for pseudonyms; the role is {role}" for key in ("stable", "key")
    ]


@pytest.mark.parametrize("role", Role)
def test_who_may_be_accepted(role: Role) -> None:
    if role in (Role.IDENTIFYING, Role.QUASI):
        assert of_id(role, accept="a reason") == [
            f"columns.id: accept is for columns that are released as they are; the role is {role}"
        ]
    else:
        columns = {"age": {"role": "quasi"}, "id": {"role": role, "accept": "a reason"}}
        assert parse_policy({**BASE, "columns": columns}).section.columns["id"].accept


@pytest.mark.parametrize(
    ("reason", "shown"),
    [("", "''"), ("  ", "'  '"), (True, "true"), (5, "5"), (["because"], "['because']")],
)
def test_a_reason_is_words(reason: Any, shown: str) -> None:
    assert of_id("insensitive", accept=reason) == [
        f"columns.id.accept: found {shown}, expected text that is not blank"
    ]


def test_stable_pseudonyms_and_their_key() -> None:
    assert of_id("pseudonym", stable=True) == [
        'columns.id.stable: needs key, such as key: "${SQLANON_KEY}", because the same '
        "pseudonyms come from the same secret"
    ]
    for keys in ({"key": SECRET}, {"key": SECRET, "stable": False}):
        assert of_id("pseudonym", **keys) == [
            "columns.id.key: is for stable pseudonyms; leave it out, and every release takes a "
            "new secret that is then forgotten, or say stable: true"
        ]
    assert of_id("pseudonym", stable="yes") == [
        "columns.id.stable: found 'yes', expected true or false"
    ]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"marker": "?"}, "marker: goes with rows: mark; suppressed rows are left out"),
        ({"marker": "?", "rows": "leave_out"}, "marker: goes with rows: mark; suppressed rows are "
         "left out"),
        ({"rows": "marked"}, "rows: found 'marked', expected 'leave_out' or 'mark'; did you mean "
         "mark?"),
        ({"rows": "leave-out"}, "rows: found 'leave-out', expected 'leave_out' or 'mark'; did "
         "you mean leave_out?"),
        ({"rows": "mark", "marker": " "}, "marker: found ' ', expected text that is not blank"),
        ({"markers": "*"}, "markers: unknown key; did you mean marker?"),
    ],
)  # fmt: skip
def test_mistakes_in_suppression(keys: dict[str, Any], line: str) -> None:
    assert of(suppression=keys) == [f"suppression.{line}"]


def test_several_mistakes_of_one_section() -> None:
    found = of(publish={"file": "a", "to": "t", "mode": "view"}, source={"table": "people"})
    assert [line.split(":")[0] for line in found] == [
        "publish.file",
        "publish.to",
        "publish.mode",
    ]
    columns = {
        "age": {"role": "quasi", "output": "lower", "null_label": "x", "values": [1]},
        "id": {"role": "label", "stable": True, "accept": "x", "form": "case"},
    }
    found = mistakes({**BASE, "columns": columns, "publish": {"mod": "view"}, "others": "x"})
    assert [line.split(":")[0] for line in found] == [
        "columns.age.output",
        "columns.age.null_label",
        "columns.id",
        "columns.id",
        "others",
        "publish.mod",
    ]


HOSTILE = ["a\nb", "\x1b[2J", "'; DROP TABLE people; --", "x" * 10_000, "\u202e", "{0}%s${A}"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_on_their_line(text: str) -> None:
    columns = {"age": {"role": "quasi", "output": "bounds", **RANGE}}
    for document in (
        {"publish": {"file": text}},
        {"publish": {"mode": text}},
        {"publish": {text: 1}},
        {"columns": {**columns, text: {"role": "quasi", "output": "lower"}}},
        {"columns": {**columns, text: {"role": "label", "form": "case"}}},
        {"source": {"table": text[:50]}, "publish": {"to": text[:50]}},
    ):
        (line,) = of(**document)
        assert line.isprintable()
    kept = {"null_label": text}
    section = parse_policy({**BASE, "columns": {"age": {"role": "quasi", **kept}}}).section
    assert section.columns["age"].null_label == text
