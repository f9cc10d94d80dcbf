"""A sensitive column goes out with a model, or with a reason why there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, message
from model_cases import APART, CASES, patients, rows_of, write

import sqlanon
from sqlanon.errors import PolicyError

ACCEPTED = "known in <b>town</b>"
COLUMNS: dict[str, Any] = {
    "town": {"role": "quasi"},
    "ill": {"role": "sensitive", "accept": "it is in the test"},
    "pay": {"role": "sensitive", "accept": "it is in the test"},
    "who": {"role": "identifying"},
}


def policy_of(folder: Path, **privacy: Any) -> Path:
    return write(folder, CASES["distinct"], columns=COLUMNS, privacy={"k": 3, **privacy})


@pytest.mark.parametrize(
    ("privacy", "named"),
    [
        ({}, "the sensitive columns 'ill', 'pay', so"),
        ({"l_diversity": {"l": 2, "columns": ["ill"]}}, "the sensitive column 'pay', so"),
        ({"homogeneity": {"accept": "x", "columns": ["pay"]}}, "the sensitive column 'ill', so"),
    ],
)
def test_without_a_model_nothing_is_published(
    run: Run, tmp_path: Path, privacy: dict[str, Any], named: str
) -> None:
    policy_of(tmp_path, **privacy)
    (tmp_path / "scheme.json").write_text(json.dumps(APART))
    before = (tmp_path / "town.duckdb").read_bytes()
    for command in (("sql",), ("publish", "--dry-run")):
        name, *options = command
        assert run(name, "policy.yml", "--scheme", "scheme.json", *options).status == 0
    said = message(1, run("publish", "policy.yml", "--scheme", "scheme.json"))
    assert said.startswith(f"error: policy.yml: privacy: no model covers {named}")
    assert "`l_diversity: {l: 2}`" in said
    assert '`homogeneity: {accept: "reason"}`' in said
    assert (tmp_path / "town.duckdb").read_bytes() == before
    assert not list(tmp_path.glob("released*"))


def test_a_reason_stands_in_the_certificate(tmp_path: Path) -> None:
    accepted = {"accept": ACCEPTED, "columns": ["pay"]}
    models = {"l_diversity": {"l": 2, "columns": ["ill"]}}
    with sqlanon.load(policy_of(tmp_path, **models, homogeneity=accepted)) as anonymizer:
        release = anonymizer.publish(APART)
    table = patients()  # Rome has one illness; that Lima has one pay is accepted
    assert rows_of(release.to_pandas()) == rows_of(table[table["town"] != "Rome"])
    warning = f"no privacy model covers the sensitive column 'pay'; accepted: {ACCEPTED}"
    assert warning in release.warnings
    for shareable in (False, True):
        document = release.certificate.to_dict(shareable)
        assert document["privacy"]["homogeneity"] == {"columns": ["pay"], "accept": ACCEPTED}
        (inference,) = (p for p in document["words"]["protection"] if p["against"] == "Inference")
        assert any(
            each == f"No model limits what groups have in common in pay; accepted: {ACCEPTED}"
            for each in inference["remains"]
        )
        assert "known in &lt;b&gt;town&lt;/b&gt;" in release.certificate.to_html(shareable)


def test_a_reason_is_for_columns_without_a_model(tmp_path: Path, run: Run) -> None:
    """Every column has a model here, so there is nothing to accept."""
    models = {"l_diversity": {"l": 2, "columns": ["ill"]}, "alpha_k": {"alpha": 1}}
    policy_of(tmp_path, **models, homogeneity={"accept": "x"})
    (tmp_path / "scheme.json").write_text(json.dumps(APART))
    said = message(1, run("publish", "policy.yml", "--scheme", "scheme.json"))
    keys = "by privacy.l_diversity and privacy.alpha_k"
    assert f"privacy.homogeneity: every sensitive column has a model, {keys}" in said


def test_the_message_hides_what_variables_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", "town")
    source = {"connection": "duckdb:///${WHERE}.duckdb", "table": "patients"}
    policy = write(tmp_path, CASES["distinct"], columns=COLUMNS, privacy={"k": 3}, source=source)
    with (
        sqlanon.load(policy) as anonymizer,
        pytest.raises(PolicyError, match="no model covers"),
    ):
        anonymizer.publish(APART)
