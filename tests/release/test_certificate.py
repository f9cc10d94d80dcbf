"""Certificates as documents and files. Expected figures are calculated by hand."""

from __future__ import annotations

import datetime as dt
import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from certified import (
    CANARY,
    SIZES,
    TIME,
    Stated,
    census,
    certificate_of,
    clinic,
    earlier,
    hospital,
    subgroup,
    suppression,
)

from sqlanon.errors import CertificateError
from sqlanon.release.certificate import Certificate, is_hit

BOTH = pytest.mark.parametrize(
    "facts", [census(), hospital(), clinic()], ids=["census", "hospital", "clinic"]
)


def test_the_figures_of_a_census() -> None:
    document = certificate_of(census()).to_dict()
    assert document["form"] == "internal"
    assert document["release"]["rows"] == 30154
    assert document["source"] == {"rows": 30162, "people": 30162, "name": f"{CANARY}.people"}
    privacy = document["privacy"]
    assert (privacy["k"], privacy["required_k"], privacy["classes"]) == (5, 5, 61)
    assert privacy["sizes"][0] == {"size": 5, "classes": 1, "rows": 5}
    assert len(privacy["sizes"]) == len(SIZES)
    # By hand from SIZES: 5 + 2·7 rows of 30,154 are in classes of 5 to 9.
    assert privacy["bands"][0] == {"least": 5, "most": 9, "share": 0.0, "classes": 3, "rows": 19}
    # 2·2104 + 2·2208 + 2961 + 3415
    assert privacy["bands"][-1] == {
        "least": 1000, "most": None, "share": 0.5, "classes": 6, "rows": 15000,
    }  # fmt: skip
    assert privacy["unique"] == "under 1 %"
    # 6 of 63 rows are 9.5 %; nothing else comes near 5 %.
    assert document["suppression"]["uneven"] == ["age"]


def test_people_are_counted_where_there_is_a_subject() -> None:
    document = certificate_of(hospital()).to_dict()
    assert document["release"]["rows"] == 48
    assert document["release"]["people"] == 29
    assert document["privacy"]["k"] == 4
    assert document["privacy"]["by_rows"] == {"k": 8, "classes": 3}
    # Bands begin at 4, 8, 20, …: (8 + 10) of 48 rows, then 30 of 48.
    assert [(b["least"], b["share"]) for b in document["privacy"]["bands"]] == [
        (4, 0.38),
        (20, 0.62),
    ]
    assert document["privacy"]["subject"] == "patient_id", "not the private column of the audit"
    assert document["privacy"]["unique"] == "50 % or more"


@BOTH
@pytest.mark.parametrize("shareable", [False, True])
def test_what_was_written_is_read(facts: Stated, shareable: bool, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    certificate = certificate_of(facts)
    certificate.write(path, shareable=shareable)
    found = Certificate.read(path)
    assert found.is_shareable is shareable
    assert found.to_dict(shareable=shareable) == certificate.to_dict(shareable=shareable)
    assert found.to_dict(shareable=True) == certificate.to_dict(shareable=True)
    assert found.chain() == certificate.chain()
    assert found.columns == certificate.columns
    assert found.to_html(shareable=shareable) == certificate.to_html(shareable=shareable)


@BOTH
def test_the_same_facts_give_the_same_bytes(facts: Stated, tmp_path: Path) -> None:
    for name in ("a", "b"):
        certificate_of(facts).write(tmp_path / f"{name}.json")
        certificate_of(facts).write_page(tmp_path / f"{name}.html")
    for kind in ("json", "html"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_times_are_written_in_utc() -> None:
    there = TIME.astimezone(dt.timezone(dt.timedelta(hours=9)))
    document = certificate_of(replace(census(), time=there)).to_dict()
    assert document["release"]["time"] == "2026-11-16T11:04:14Z"


def test_the_chain_grows_by_one_release() -> None:
    first = certificate_of(hospital())
    assert first.chain()[0] == earlier("visits-0003", TIME, "c0ffee00" * 8, 4)
    second = certificate_of(replace(hospital(), release="visits-0004", earlier=first.chain()))
    assert [each["id"] for each in second.to_dict()["lineage"]["earlier"]] == [
        "visits-0003", "visits-0002", "visits-0001",
    ]  # fmt: skip
    assert second.to_dict(shareable=True)["lineage"] == second.to_dict()["lineage"]


def test_the_shareable_form_does_not_turn_back(tmp_path: Path) -> None:
    certificate_of(census()).write(tmp_path / "c.json", shareable=True)
    found = Certificate.read(tmp_path / "c.json")
    assert found.target is None
    with pytest.raises(CertificateError, match="shareable form, which cannot be turned back"):
        found.to_dict()
    with pytest.raises(CertificateError, match="cannot be turned back"):
        found.write(tmp_path / "d.json")
    assert not (tmp_path / "d.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions_and_temporary_files(tmp_path: Path) -> None:
    certificate = certificate_of(census())
    inside, outside = tmp_path / "inside.json", tmp_path / "outside.json"
    inside.write_text("old")
    inside.chmod(0o644)
    before = os.umask(0o022)
    try:
        certificate.write(inside)
        certificate.write_page(tmp_path / "inside.html")
        certificate.write(outside, shareable=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(inside.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "inside.html").stat().st_mode) == 0o600
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
    assert not list(tmp_path.glob(".sqlanon-*"))


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "certificate.json"
    path.write_text("old")

    def fail(self: Path, target: Path) -> Path:
        assert stat.S_IMODE(self.stat().st_mode) == 0o600
        assert self.name.startswith(".sqlanon-")
        assert self.name.endswith(".tmp")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(CertificateError, match=r"cannot be written \(No space left on device\)"):
        certificate_of(census()).write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match="cannot be written"):
        certificate_of(census()).write(tmp_path / "none" / "c.json")
    with pytest.raises(CertificateError, match="cannot be read"):
        Certificate.read(tmp_path / "none" / "c.json")


def change(*keys: str | int, to: Any = None) -> Callable[[Any], None]:
    def apply(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        if to is None:
            del document[keys[-1]]
        else:
            document[keys[-1]] = to

    return apply


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (change("format"), 'is not a certificate; "format" is not'),
        (
            change("version", to=4),
            "format version 4 is not supported; this sqlanon reads versions 1 to 3",
        ),
        (change("form", to="secret"), "form is 'secret', not one of internal, shareable"),
        (change("form", to=[]), r"form is \[\], not one of"),
        (change("sql"), "sql: is missing"),
        (change("privacy", "k"), "privacy.k: is missing"),
        (change("privacy", "k", to="5"), "privacy.k: input should be a valid integer, found '5'"),
        (change("privacy", "k", to=-1), "privacy.k: input should be greater than or equal to 0"),
        (change("columns", 1, "loss", to=2), "columns.1.loss: input should be less than or equal"),
        (change("release", "time", to="noon"), "release.time: input should be a valid datetime"),
        (change("release", "mode", to="song"), "release.mode: input should be 'table'"),
        (change("release", "hash_version"), "release.hash_version: is missing"),
        (change("release", "hash_version", to=3), "release.hash_version: input should be 1 or 2"),
        (change("release", "more", to=1), "release.more: is not a key of this format"),
        (change("form", to="shareable"), "sql: is not a key of the shareable form"),
    ],
)
def test_reading_says_what_is_wrong(
    mistake: Callable[[Any], None], message: str, tmp_path: Path
) -> None:
    document = certificate_of(census()).to_dict()
    mistake(document)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(CertificateError, match=message) as caught:
        Certificate.read(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b"null", b""])
def test_reading_something_else(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(CertificateError, match="is not"):
        Certificate.read(path)


def test_marked_rows_are_not_left_out() -> None:
    marked = suppression(30162, rows=8, limit=0.01, marked=True, unseen=8)
    certificate = certificate_of(replace(census(), suppression=marked))
    words = certificate.to_dict()["words"]["summary"]
    assert "8 rows were hidden in all these columns (0.03 %)" in words
    assert "8 rows were left out because of values that the generalization does not know" in words
    assert certificate.to_dict()["suppression"]["uneven"] is None, "not counted"


@pytest.mark.parametrize(
    ("rows", "left_out", "hit"),
    [
        (100, 5, True),  # 5 % and more than twice 0.8 %
        (101, 5, False),  # 4.95 %
        (3, 1, True),  # a small group counts, too
        (50, 0, False),
    ],
)
def test_whom_suppression_hits(rows: int, left_out: int, hit: bool) -> None:
    facts = census()
    group = subgroup("sex", "Female", rows, left_out)
    fact = suppression(30162, rows=8, limit=0.01, subgroups=(group,))
    document = certificate_of(replace(facts, suppression=fact)).to_dict()
    assert document["suppression"]["uneven"] == (["sex"] if hit else [])


def test_a_group_that_loses_less_than_twice_the_share_of_all_is_not_hit() -> None:
    assert is_hit(20, 100, 100, 1000)
    assert not is_hit(19, 100, 100, 1000)
