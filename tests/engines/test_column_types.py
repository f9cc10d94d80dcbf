"""Names of types as DuckDB and PostgreSQL write them."""

from __future__ import annotations

import pytest

from sqlanon.engines import (
    decimal_places,
    has_nanoseconds,
    has_time_zone,
    is_text_once_released,
    is_text_type,
    released_type,
)


@pytest.mark.parametrize(
    ("type_", "is_text", "is_released_as_text", "zone"),
    [
        ("VARCHAR", True, True, False),
        ("text", True, True, False),
        ("ENUM('a ZONE', 'b')", False, True, False),
        ("citext", False, False, False),
        ("UUID", False, False, False),
        ("TIMESTAMP WITH TIME ZONE", False, False, True),
        ("timestamp(3) with time zone", False, False, True),
        ("timestamp without time zone", False, False, False),
        ("timestamptz", False, False, True),
    ],
)
def test_texts_and_zones(type_: str, is_text: bool, is_released_as_text: bool, zone: bool) -> None:
    assert is_text_type(type_) is is_text
    assert is_text_once_released(type_) is is_released_as_text
    assert has_time_zone(type_) is zone


def test_a_type_that_lists_values_is_another_one_in_a_release() -> None:
    """Inside other types too; a field that is called ENUM lists none."""
    expected = {
        "ENUM('a', 'b')": "TEXT",
        "STRUCT(m ENUM('a'), n INTEGER)": "STRUCT(m TEXT, n INT)",
        "STRUCT(enum INTEGER)": None,
        "INTEGER": None,
    }
    found = {type_: released_type(type_, "duckdb") for type_ in expected}
    assert {t: each and each.sql("duckdb") for t, each in found.items()} == expected


def test_digits() -> None:
    assert [decimal_places(type_) for type_ in ("DECIMAL(6,2)", "decimal(6, 2)", "INT")] == [
        2,
        2,
        0,
    ]
    assert has_nanoseconds("TIMESTAMP_NS")
    assert not has_nanoseconds("TIMESTAMP")
