"""Interprets the names of column types; no other module does.

Engines must report these names: a text type begins with VARCHAR, TEXT or STRING, a type that
lists its values is ENUM('a', 'b'), an instant ends with WITH TIME ZONE, and a time that is finer
than microseconds is TIMESTAMP_NS. Values of all other types are compared and hashed by a cast.
"""

from __future__ import annotations

import re

from sqlglot import exp

_TEXTS = ("VARCHAR", "TEXT", "STRING")
_SPELLED_ONCE = re.compile(
    r"BOOLEAN|DATE|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|TIMESTAMP|DECIMAL\(.*\)|ENUM\(.*\)|VARCHAR",
    re.IGNORECASE | re.DOTALL,
)
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)", re.IGNORECASE)


def is_text_type(type_: str) -> bool:
    """Whether values are texts without a cast."""
    return type_.upper().startswith(_TEXTS)


def is_spelled_once(type_: str) -> bool:
    """Whether equal values are the same, as 0.0 and -0.0, or a month and thirty days, are not."""
    return _SPELLED_ONCE.fullmatch(type_) is not None


def folds_case(type_: str) -> bool:
    """Whether texts are equal that differ in case, which a cast to text would tell apart."""
    return type_ == "CITEXT"


def is_text_once_released(type_: str) -> bool:
    """The same in a release, where a type that lists its values becomes text."""
    return is_text_type(type_) or type_.upper().startswith("ENUM")


def released_type(type_: str, dialect: str) -> exp.DataType | None:
    """Replaces a type that lists every value, even those that no row holds.

    None for other types, including those that only have the word in a name.
    """
    if "ENUM(" not in type_.upper():
        return None
    plain = exp.DataType.build(type_, dialect=dialect)
    listed = [each for each in plain.find_all(exp.DataType) if each.is_type("enum")]
    for each in listed:
        text = exp.DataType.build("text")
        if each is plain:
            return text
        each.replace(text)
    return plain if listed else None


def has_time_zone(type_: str) -> bool:
    """Whether values are instants, whose text depends on the time zone of a session."""
    name = type_.upper()
    return name == "TIMESTAMPTZ" or name.endswith("WITH TIME ZONE")


def has_nanoseconds(type_: str) -> bool:
    """Whether times are finer than microseconds, and so cover fewer years."""
    return type_.upper() == "TIMESTAMP_NS"


def decimal_places(type_: str) -> int:
    """Digits after the point of a decimal type; 0 if its name has none."""
    found = _DECIMAL.match(type_)
    return int(found[1]) if found else 0
