"""Keys of pseudonyms are secrets: what they make, and where they never are."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import pytest
import town_table
from command_line import Run, process
from town_table import GOOD, rows

import sqlanon

KEY = "correct-horse-battery-staple-0123"
STABLE = {"role": "pseudonym", "stable": True, "key": "${TEST_KEY}", "accept": "links visits"}
FRESH = {"role": "pseudonym", "accept": "links visits"}


def digest(value: str) -> str:
    """The pseudonym as documented: SHA-256 of the key and SHA-256 of key and value."""
    inner = hashlib.sha256((KEY + value).encode()).hexdigest()
    return hashlib.sha256((KEY + inner).encode()).hexdigest()[:32]


def published(folder: Path, column: dict[str, Any]) -> set[str]:
    policy = town_table.make(folder, columns={"name": column})
    with sqlanon.load(policy) as anonymizer:
        anonymizer.publish(GOOD)
    return {name for (name,) in rows(folder, "SELECT name FROM released")}


def test_stable_ones_are_the_same_in_every_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    expected = {digest(f"Name {n}") for n in range(60)}
    assert published(tmp_path, STABLE) == expected
    assert published(tmp_path, STABLE) == expected
    monkeypatch.setenv("TEST_KEY", KEY + "4")
    assert not published(tmp_path, STABLE) & expected


def test_fresh_ones_differ(tmp_path: Path) -> None:
    first, second = published(tmp_path, FRESH), published(tmp_path, FRESH)
    assert len(first) == len(second) == 60
    assert not first & second


def test_a_key_is_in_no_file_log_or_message(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    run: Run,
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    policy = town_table.make(tmp_path, columns={"name": STABLE})
    texts = []
    with caplog.at_level(logging.DEBUG), sqlanon.load(policy) as anonymizer:
        texts += [anonymizer.sql(GOOD), *anonymizer.dry_run(GOOD), repr(anonymizer.policy)]
        release = anonymizer.publish(GOOD)
        texts += [repr(release), str(release), json.dumps(release.to_dict())]
        texts += [release.to_arrow().to_pandas().to_csv(), *release.statements]
        texts.append(release.certificate.to_html())
    texts += [record.getMessage() for record in caplog.records]
    for arguments in (["--dry-run"], ["--json"], [], ["--rewrite"]):
        done = run("publish", "policy.yml", "--scheme", "good.json", *arguments)
        assert done.status == 0, done.err
        texts += [done.out, done.err]
    for how in ("fine.json", "nothing.json"):
        done = run("publish", "policy.yml", "--scheme", how)
        assert done.status in (1, 3)
        texts += [done.out, done.err]
    assert any("$sqlanon_key_1" in text for text in texts)
    halves = KEY[:16], KEY[-16:]
    assert not [text for text in texts if any(half in text for half in halves)]
    for path in tmp_path.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not any(half.encode() in content for half in halves), path


def test_a_key_is_in_no_debug_output_of_a_process(tmp_path: Path) -> None:
    town_table.make(tmp_path, columns={"name": STABLE})
    done = process(tmp_path, "-v", "publish", "policy.yml", "--scheme", "good.json", TEST_KEY=KEY)
    assert done.status == 0, done.err
    assert "$sqlanon_key_1" in done.err
    assert KEY[:16] not in done.err + done.out


def test_a_missing_key_names_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.delenv("TEST_KEY", raising=False)
    town_table.make(tmp_path, columns={"name": STABLE})
    done = run("publish", "policy.yml", "--scheme", "good.json")
    assert (done.status, done.out) == (1, "")
    assert "columns.name.key: the variable TEST_KEY is not set in the environment" in done.err
    monkeypatch.setenv("TEST_KEY", "short secret")
    done = run("publish", "policy.yml", "--scheme", "good.json")
    assert "has 12 characters" in done.err
    assert "short secret" not in done.err


def test_a_view_cannot_hold_pseudonyms(tmp_path: Path, run: Run) -> None:
    town_table.make(tmp_path, columns={"name": FRESH}, publish={"to": "v", "mode": "view"})
    done = run("publish", "policy.yml", "--scheme", "good.json")
    assert (done.status, done.out) == (1, "")
    assert "publish.mode: a view would show the secret of its pseudonyms" in done.err
