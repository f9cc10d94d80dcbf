"""docs/certificate.md describes every key of both forms, and no others."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlanon.release.certificate import Document, Entry

PAGE = Path(__file__).resolve().parents[2] / "docs" / "certificate.md"


def sections(model: type[Entry], name: str) -> Iterator[tuple[str, type[Entry]]]:
    """A document and every object in it, by the key that holds the object."""
    yield name, model
    for key, field in model.model_fields.items():
        for inner in models_in(field.annotation):
            yield from sections(inner, key)


def models_in(annotation: Any) -> Iterator[type[Entry]]:
    if isinstance(annotation, type) and issubclass(annotation, Entry):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from models_in(argument)


def described() -> dict[str, dict[str, str]]:
    """By section the keys of the page, each with whether it is said to be shareable."""
    parts = re.split(r"^### (\w+)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        name: dict(re.findall(r"^\| `(\w+)` \| (yes|no) \| \S", text, re.MULTILINE))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


KEYS = list(sections(Document, "certificate"))
INSIDE = {name: list(section.model_fields) for name, section in KEYS}
SHARED = {name: list(section.shared_keys()) for name, section in KEYS}


def test_no_two_objects_have_the_same_name() -> None:
    assert len(INSIDE) == len(KEYS)


@pytest.mark.parametrize("name", INSIDE)
def test_every_key_is_described(name: str) -> None:
    assert list(described()[name]) == INSIDE[name]


@pytest.mark.parametrize("name", INSIDE)
def test_it_is_said_which_keys_are_shareable(name: str) -> None:
    said = [key for key, shareable in described()[name].items() if shareable == "yes"]
    assert said == SHARED[name]


def test_nothing_else_is_described() -> None:
    assert set(described()) == set(INSIDE)
