"""Several sensitive columns, marked rows, hostile names, other audits, certificates by hand."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import yaml
from model_cases import APART, CASES, TOGETHER, TOWNS, patients, rows_of, safe_towns, write

import sqlanon
from sqlanon import resources
from sqlanon.audit.table_hash import table_hash
from sqlanon.checking import recheck
from sqlanon.engines.registry import open_source
from sqlanon.errors import CertificateError, VerificationError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pycanon import anonymity  # type: ignore[import-untyped]

REASON = "it is in the test"
BOTH: dict[str, Any] = {
    "town": {"role": "quasi", "values": list(TOWNS)},
    "ill": {"role": "sensitive", "accept": REASON},
    "pay": {"role": "sensitive", "accept": REASON},
    "who": {"role": "identifying"},
}


def test_several_sensitive_columns(tmp_path: Path) -> None:
    """A class must satisfy the models of both: Rome fails by illness, Lima by pay."""
    privacy = {"k": 3, "l_diversity": [{"l": 2}, {"kind": "entropy", "l": 1.5, "columns": ["ill"]}]}
    with sqlanon.load(write(tmp_path, CASES["distinct"], columns=BOTH, privacy=privacy)) as found:
        release = found.publish(APART)
    table = patients()
    safe = table["town"].isin(["Bonn", "Oslo"])
    assert rows_of(release.to_pandas()) == rows_of(table[safe])
    models = release.certificate.to_dict()["privacy"]["models"]
    assert [(each["column"], each["measure"]) for each in models] == [
        ("ill", "distinct"), ("pay", "distinct"), ("ill", "perplexity"),
    ]  # fmt: skip
    result = sqlanon.check(release.to_pandas(), ["town"], 3, sensitive=["ill", "pay"], l=2)
    assert result.holds


def test_marked_rows_are_a_class_that_must_satisfy_the_models(tmp_path: Path) -> None:
    """Rome and Lima together have two illnesses and NULL; Rome alone would have one."""
    case = CASES["entropy"]
    assert safe_towns(case, subject=False) == ["Bonn", "Oslo"]
    mark = {"limit": 1.0, "rows": "mark"}
    with sqlanon.load(write(tmp_path, case, suppression=mark)) as anonymizer:
        release = anonymizer.publish(APART)
    frame = release.to_pandas()
    marked = patients()["town"].isin(["Rome", "Lima"])
    hidden = patients().assign(town=patients()["town"].mask(marked, "(suppressed)"))
    assert rows_of(frame) == rows_of(hidden)
    assert release.certificate.to_dict()["suppression"]["rows"] == int(marked.sum())
    # Nothing was left out, so the shareable form tells every number.
    assert release.certificate.to_dict(True)["privacy"]["models"][0]["reached"] is not None
    with (
        sqlanon.load(write(tmp_path, CASES["distinct"], suppression=mark)) as anonymizer,
        pytest.raises(VerificationError, match=r"distinct l = 2 on 'ill': the worst class has 1"),
    ):
        anonymizer.publish(APART)


HOSTILE = ['a "b"; --', "class", "people", "population", "is_unsafe", "source", "generalized"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(tmp_path: Path, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    quasi, secret = f"{name} q", name
    table = patients().rename(columns={"town": quasi, "ill": secret})
    everybody = pd.DataFrame({quasi: [*TOWNS] * 13})
    with duckdb.connect(tmp_path / "hostile.duckdb") as connection:
        connection.execute(f"CREATE SCHEMA {quoted}")
        for kind in ("table", "population"):
            connection.register("frame", table if kind == "table" else everybody)
            other = f'"{kind} {quoted[1:-1]}"'
            connection.execute(f"CREATE TABLE {quoted}.{other} AS FROM frame")
    policy = {
        "source": {
            "connection": "duckdb:///hostile.duckdb",
            "table": f'{quoted}."table {quoted[1:-1]}"',
        },
        "columns": {
            quasi: {"role": "quasi", "values": list(TOWNS)},
            secret: {"role": "sensitive", "accept": name},
        },
        "others": "drop",
        "one_row_per_person": True,
        "privacy": {"k": 3, "l_diversity": {"l": 2}, "t_closeness": {"t": 0.3}, "k_map": 13},
        "population": {"table": f'{quoted}."population {quoted[1:-1]}"'},
        "suppression": {"limit": 1},
        "publish": {"to": f"{quoted}.released", "mode": "view"},
    }
    file = tmp_path / "policy.yml"
    file.write_text(yaml.safe_dump(policy), encoding="utf-8")
    groups = {"version": 1, "columns": {quasi: APART["columns"]["town"]}}  # type: ignore[index]
    with sqlanon.load(file) as anonymizer:
        release = anonymizer.publish(groups)
    safe = {*safe_towns(CASES["distinct"], False)} & {*safe_towns(CASES["equal"], False)}
    found = rows_of(release.to_pandas(), (quasi, secret))
    assert found == rows_of(table[table[quasi].isin(safe)], (quasi, secret))
    assert f"distinct l = 2 on {secret!r}" in release.certificate.document.words.summary


@pytest.mark.filterwarnings("ignore:In a future version, the keys of `groups`")
def test_pycanon_finds_the_same_l_and_t(tmp_path: Path) -> None:
    """Its reference is the released table, which is right because no row is left out here."""
    scheme = {"version": 1, "columns": {"town": {"groups": [["Bonn", "Lima"], ["Oslo", "Rome"]]}}}
    privacy = {"k": 3, "l_diversity": {"l": 2}, "t_closeness": {"t": 0.9}}
    # pycanon leaves out rows without a value.
    source = {
        "connection": "duckdb:///town.duckdb",
        "query": "SELECT * REPLACE (coalesce(ill, 'none') AS ill) FROM patients",
    }
    policy = write(tmp_path, CASES["equal"], columns=BOTH, privacy=privacy, source=source)
    with sqlanon.load(policy) as anonymizer:
        release = anonymizer.publish(scheme)
    frame = release.to_pandas()
    assert len(frame) == len(patients())
    for model in release.certificate.to_dict()["privacy"]["models"]:
        theirs = anonymity.l_diversity if model["measure"] == "distinct" else anonymity.t_closeness
        column = [model["column"]]
        assert model["reached"] == pytest.approx(theirs(frame, ["town"], column), abs=1e-9)


def test_adult_with_three_requirements(tmp_path: Path) -> None:
    """k = 5, two salaries in every class, at most 0.2 from the whole: found, published, checked."""
    file = resources.path("examples", "adult", "policy.yml")
    policy = yaml.safe_load(file.read_text(encoding="utf-8"))
    adult = resources.path("examples", "adult", "adult.parquet")
    policy["source"] = {"file": str(adult)}
    policy["columns"]["salary-class"] = {"role": "sensitive"}
    policy["privacy"] = {"k": 5, "l_diversity": {"l": 2}, "t_closeness": {"t": 0.2}}
    policy["search"] = {"evaluations": 6000}
    policy["publish"] = {"file": "adult_anon.parquet"}
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(policy))
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        assert result.solution.feasible
        release = anonymizer.publish(result)
        quasi = [column.name for column in anonymizer.space.columns]
    found = sqlanon.check(
        tmp_path / "adult_anon.parquet", quasi, 5,
        sensitive="salary-class", l=2, t=0.2, reference=adult,
    )  # fmt: skip
    assert found.holds
    reached = {each.model.key: each.value for each in result.solution.models}
    stated = {
        each["key"]: each["counted"] for each in release.certificate.to_dict()["privacy"]["models"]
    }
    assert stated == pytest.approx(reached, abs=1e-9)
    assert release.k == found.k == result.solution.scores["k"]


def certified(folder: Path, form: str = "certificate") -> tuple[Path, dict[str, Any]]:
    file = folder / f"released.{form}.json"
    return file, json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", ["certificate", "shareable"])
def test_certificates_of_earlier_versions_are_read(tmp_path: Path, form: str) -> None:
    """Those of a release with k alone, which have none of the new keys."""
    columns = {**BOTH, "ill": {**BOTH["ill"], "role": "insensitive"}}
    accepted = {"accept": REASON}
    policy = write(
        tmp_path, CASES["distinct"], columns=columns, privacy={"k": 3, "homogeneity": accepted}
    )
    with sqlanon.load(policy) as anonymizer:
        anonymizer.publish(TOGETHER)
    file, document = certified(tmp_path, form)
    document |= {"version": 1, "prior": document.pop("lineage")["earlier"]}
    with duckdb.connect(tmp_path / "town.duckdb", read_only=True) as connection:
        released = open_source(connection=connection, table="released")
        names = [info.name for info in released.columns]
        document["release"]["hash"] = table_hash(released, names, 1)
    del document["release"]["hash_version"]
    for key in ("digest", "context"):
        del document[key]
    del document["scheme"]["recoding"]
    for key in ("models", "homogeneity", "journalist"):
        del document["privacy"][key]
    for each in document["privacy"]["sensitive"]:
        for key in set(each) - {"column", "largest_share", "fewest_values"}:
            del each[key]
    for each in document["words"]["protection"]:  # the reason is new in these, too
        each["remains"] = [line for line in each["remains"] if REASON not in line]
    file.write_text(json.dumps(document), encoding="utf-8")
    again = recheck(tmp_path / "town.duckdb", file, table="released")
    assert (again.differences, again.not_recounted) == ((), ())
    assert "has no digest" in again.caveats[0]
    document["privacy"]["model"] = []
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(CertificateError, match=r"privacy\.model: is not a key of this format"):
        recheck(tmp_path / "town.duckdb", file, table="released")


@pytest.mark.parametrize(
    ("name", "scheme", "why"),
    [
        ("distinct", APART, None),
        ("alpha", APART, None),
        ("equal", APART, "that needs the source, because rows of it were left out"),
        ("equal", TOGETHER, None),
        ("beta", TOGETHER, None),
        ("delta", TOGETHER, None),
        ("ordered", TOGETHER, None),
        ("hierarchical", TOGETHER, "that needs the hierarchy of the column"),
        ("k-map", TOGETHER, "that needs the population"),
    ],
)
def test_what_can_be_counted_again(
    tmp_path: Path, name: str, scheme: dict[str, Any], why: str | None
) -> None:
    with sqlanon.load(write(tmp_path, CASES[name])) as anonymizer:
        release = anonymizer.publish(scheme)
    again = recheck(tmp_path / "town.duckdb", certified(tmp_path)[0], table="released")
    assert again.holds
    (model,) = release.certificate.to_dict()["privacy"]["models"]
    said = [] if why is None else [f"{model['required']} was not counted again: {why}."]
    assert list(again.not_recounted) == said == again.to_dict()["not_recounted"]
    assert str(again).splitlines()[1:] == [*said, *again.caveats]
    assert again.audit is not None
    assert len(again.audit.models) == (0 if said else 1)


def test_without_the_subject_only_values_can_be_counted_again(tmp_path: Path) -> None:
    privacy = {"k": 3, "l_diversity": {"l": 2}, "alpha_k": {"alpha": 0.9}}
    policy = write(tmp_path, CASES["distinct"], columns=BOTH, privacy=privacy)
    document = yaml.safe_load(policy.read_text())
    del document["one_row_per_person"]
    policy.write_text(yaml.safe_dump(document | {"subject": "who"}))
    with sqlanon.load(policy) as anonymizer:
        anonymizer.publish(TOGETHER)
    again = recheck(tmp_path / "town.duckdb", certified(tmp_path)[0], table="released")
    assert again.holds
    assert [line.split(":")[1] for line in again.not_recounted] == [
        " that needs the subject, which the release does not have."
    ] * 2


def test_a_table_that_violates_a_model_now(tmp_path: Path) -> None:
    with sqlanon.load(write(tmp_path, CASES["distinct"])) as anonymizer:
        anonymizer.publish(APART)
    with duckdb.connect(tmp_path / "town.duckdb") as connection:
        connection.execute("UPDATE released SET ill = 'flu' WHERE town = 'Bonn'")
    for form in ("certificate", "shareable"):
        file, _ = certified(tmp_path, form)
        again = recheck(tmp_path / "town.duckdb", file, table="released")
        assert again.differences[0] == (
            "The table no longer holds what the policy requires: distinct l = 2 on 'ill' fails "
            "in 1 class."
        )


def test_the_shareable_form_tells_nothing_of_rows_that_were_left_out(tmp_path: Path) -> None:
    """How far a class is from the source would tell what those rows hold."""
    with sqlanon.load(write(tmp_path, CASES["equal"])) as anonymizer:
        release = anonymizer.publish(APART)
    assert release.left_out
    inside, outside = release.certificate.to_dict(), release.certificate.to_dict(True)
    (counted,) = (each["counted"] for each in inside["privacy"]["models"])
    assert 0 < counted <= 0.3
    (shown,) = outside["privacy"]["models"]
    assert shown["reached"] is None
    assert "counted" not in shown
    text = json.dumps(outside) + release.certificate.to_html(shareable=True)
    assert f"{counted:.4g}" not in text
    assert not {"t_equal", "beta", "delta"} & set(outside["privacy"]["sensitive"][0])
    assert f"{counted:.4g}" in release.certificate.to_html()
