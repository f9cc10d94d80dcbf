"""Nothing that must stay inside is in the shareable form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from certified import CANARY, Stated, census, certificate_of, clinic, hospital

BOTH = pytest.mark.parametrize(
    "facts", [census(), hospital(), clinic()], ids=["census", "hospital", "clinic"]
)

INSIDE = {"labels", "message", "origin", "sizes", "sql", "subgroups", "target",
          "unique_rows", "warnings"}  # fmt: skip


def walk(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every key path and leaf of a document."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key), None
            yield from walk(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from walk(value, path)
    else:
        yield path, node


@BOTH
def test_the_canaries_are_in_the_internal_form(facts: Stated) -> None:
    certificate = certificate_of(facts)
    found = {path for path, leaf in walk(certificate.to_dict()) if leaf and CANARY in str(leaf)}
    wanted = {("source", "name"), ("release", "target"), ("policy", "origin"), ("sql",),
              ("warnings",)}  # fmt: skip
    assert wanted <= found
    assert CANARY in certificate.to_html()


def test_labels_and_subgroups_are_among_the_canaries() -> None:
    found = {path for path, leaf in walk(certificate_of(census()).to_dict()) if CANARY in str(leaf)}
    assert {("columns", "labels"), ("suppression", "subgroups", "label")} <= found


@BOTH
def test_no_canary_is_in_the_shareable_form(facts: Stated) -> None:
    certificate = certificate_of(facts)
    for path, leaf in walk(certificate.to_dict(shareable=True)):
        assert not INSIDE & set(path), path
        assert path != ("source", "name")
        assert CANARY not in str(leaf), path
    assert CANARY not in json.dumps(certificate.to_dict(shareable=True)).lower()
    assert CANARY not in certificate.to_html(shareable=True).lower()


@BOTH
def test_no_label_and_no_sql_is_in_the_shareable_form(facts: Stated) -> None:
    certificate = certificate_of(facts)
    labels = {
        label for column in facts.columns for label in column.labels if label not in (None, "*")
    }
    leaves = {leaf for _, leaf in walk(certificate.to_dict(shareable=True))}
    page = certificate.to_html(shareable=True)
    assert labels
    assert not labels & leaves
    assert not [label for label in labels if f">{label}<" in page]
    assert "SELECT" not in page


def test_small_classes_are_in_coarse_bands_only() -> None:
    document = certificate_of(census()).to_dict(shareable=True)
    for band in document["privacy"]["bands"]:
        assert set(band) == {"least", "most", "share"}
        assert band["most"] is None or band["most"] >= 2 * band["least"] - 1
        assert round(100 * band["share"]) == pytest.approx(100 * band["share"])
    page = certificate_of(census()).to_html(shareable=True)
    assert "smallest groups, by size" not in page
    assert "Whom it hits" not in page


@BOTH
def test_the_shareable_form_keeps(facts: Stated) -> None:
    inside = certificate_of(facts).to_dict()
    outside = certificate_of(facts).to_dict(shareable=True)
    for key in ("software", "scheme", "scores", "preference", "lineage", "words"):
        assert outside[key] == inside[key]
    for key in ("id", "time", "rows", "people", "hash", "mode"):
        assert outside["release"][key] == inside["release"][key]
    for key in ("k", "required_k", "risk", "quasi", "by_rows", "unique", "homogeneity"):
        assert outside["privacy"][key] == inside["privacy"][key]
    assert outside["privacy"]["journalist"] == inside["privacy"]["journalist"]
    told = ("column", "largest_share", "fewest_values", "entropy_l", "recursive_c")
    for shown, known in zip(
        outside["privacy"]["sensitive"], inside["privacy"]["sensitive"], strict=True
    ):
        assert shown == {key: known[key] for key in told}
    assert outside["policy"] == {"fingerprint": facts.policy}
    assert [c["name"] for c in outside["columns"]] == [c.name for c in facts.columns]
    assert [c["accepted"] for c in outside["columns"]] == [c.accepted for c in facts.columns]
