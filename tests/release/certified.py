"""Two releases to certify: a census like Adult, and a hospital with several rows a person.

Texts with CANARY in them must never be in a shareable form.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sqlanon.audit.audit_result import (
    Audit,
    AuditedModel,
    ClassSize,
    Journalist,
    Sensitive,
    Spread,
    Uniques,
    spread_of_people,
    spread_of_rows,
)
from sqlanon.audit.column_findings import Finding, FindingKind
from sqlanon.domain.presentation import Mode
from sqlanon.metrics.preference import Preference
from sqlanon.privacy.k_map import KMap
from sqlanon.privacy.l_diversity import DistinctDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance
from sqlanon.release.certificate import (
    Certificate,
    ColumnEntry,
    Document,
    EarlierEntry,
    FindingEntry,
    HomogeneityEntry,
    LineageEntry,
    PolicyEntry,
    PreferenceEntry,
    ReleaseEntry,
    SchemeEntry,
    ScoresEntry,
    SourceEntry,
    SubgroupEntry,
    SuppressionEntry,
    Treatment,
)
from sqlanon.release.certify import finished, privacy_entry, uneven_columns

CANARY = "zq7canary"
TIME = dt.datetime(2026, 11, 16, 11, 4, 14, tzinfo=dt.UTC)
VERSIONS = {"sqlanon": "0.1.0", "duckdb": "2.0.1", "python": "3.11.9"}

# Class size and number of such classes: 61 classes of 30,154 rows.
SIZES = {5: 1, 7: 2, 11: 1, 18: 3, 26: 2, 41: 4, 73: 5, 120: 9, 242: 9, 380: 8, 611: 6, 905: 5,
         2104: 2, 2208: 2, 2961: 1, 3415: 1}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What a certificate states, in a form in which tests can change one thing at a time."""

    release: str
    source_rows: int
    source_people: int
    mode: Mode
    subject: str | None
    columns: tuple[ColumnEntry, ...]
    required_k: int
    audit: Audit
    scores: Mapping[str, Any]
    suppression: SuppressionEntry
    table_hash: str
    sql: str = "SELECT"
    time: dt.datetime = TIME
    versions: Mapping[str, str] = field(default_factory=lambda: VERSIONS)
    policy: str = "5f0c9d8c1a52e0b7"
    policy_origin: str = f"/home/{CANARY}/policy.yml"
    source: str = f"{CANARY}.people"
    target: str = f"{CANARY}.adult_anon"
    preference: Mapping[str, float] | None = None
    unique_rows: int = 0
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    earlier: tuple[EarlierEntry, ...] = ()
    homogeneity: HomogeneityEntry | None = None


def certificate_of(stated: Stated) -> Certificate:
    audit = stated.audit
    return Certificate(
        finished(
            Document(
                release=ReleaseEntry(
                    id=stated.release,
                    time=stated.time,
                    mode=stated.mode,
                    rows=audit.rows,
                    people=audit.people,
                    hash=stated.table_hash,
                    hash_version=2,
                    target=stated.target,
                ),
                software=dict(stated.versions),
                policy=PolicyEntry(fingerprint=stated.policy, origin=stated.policy_origin),
                scheme=SchemeEntry(fingerprint="b10d2c44e7f3a981"),
                source=SourceEntry(
                    rows=stated.source_rows, people=stated.source_people, name=stated.source
                ),
                columns=stated.columns,
                privacy=privacy_entry(
                    audit,
                    subject=stated.subject,
                    required_k=stated.required_k,
                    policy_k=None,
                    unique_rows=stated.unique_rows,
                    whole=audit.rows == stated.source_rows,
                    homogeneity=stated.homogeneity,
                ),
                scores=ScoresEntry(**stated.scores),
                preference=None
                if stated.preference is None
                else PreferenceEntry(**stated.preference),
                suppression=stated.suppression,
                findings=tuple(
                    FindingEntry(column=each.column, kind=str(each.kind), message=each.message)
                    for each in stated.findings
                ),
                lineage=LineageEntry(earlier=stated.earlier),
                warnings=stated.warnings,
                sql=stated.sql,
            )
        )
    )


def column(
    name: str, role: str, treatment: Treatment, released_as: tuple[str, ...] = (), **keys: Any
) -> ColumnEntry:
    return ColumnEntry(name=name, role=role, treatment=treatment, released_as=released_as, **keys)


def subgroup(column: str, label: str | None, rows: int, left_out: int) -> SubgroupEntry:
    return SubgroupEntry(column=column, label=label, rows=rows, left_out=left_out)


def suppression(
    source_rows: int,
    rows: int = 0,
    limit: float = 0.0,
    marked: bool = False,
    unseen: int = 0,
    subgroups: tuple[SubgroupEntry, ...] = (),
) -> SuppressionEntry:
    return SuppressionEntry(
        rows=rows,
        limit=limit,
        marked=marked,
        unseen=unseen,
        uneven=uneven_columns(subgroups, rows, source_rows),
        subgroups=subgroups,
    )


def earlier(id: str, time: dt.datetime, hash: str, k: int) -> EarlierEntry:
    return EarlierEntry(id=id, time=time, hash=hash, hash_version=2, k=k)


def sizes(numbers: dict[int, int]) -> list[ClassSize]:
    return [ClassSize(size, number, size * number) for size, number in numbers.items()]


def generalized(name: str, labels: tuple[str | None, ...], values: int, loss: float) -> ColumnEntry:
    return column(
        name,
        "quasi",
        Treatment.GENERALIZED,
        (name,),
        groups=len(labels),
        values=values,
        labels=labels,
        loss=loss,
    )


def scores_of(columns: Sequence[ColumnEntry], spread: Spread, left: int) -> dict[str, float | None]:
    """The scores that go with the other facts, every column of the same weight."""
    losses = [column.loss for column in columns if column.loss is not None]
    rows = spread.total + left
    preference = Preference(loss=0.2, bias=1.0)
    nwp, necd = sum(losses) / len(losses), (spread.largest - spread.k) / (rows - 1)
    return {
        "nwp": nwp,
        "necd": necd,
        "glm": sum(losses) * rows,
        "glm_share": nwp,
        "dcn": sum(each.size**2 * each.classes for each in spread.sizes) + rows * left,
        "ce": 0.2108,
        "ach": float(preference.ach(np.array(nwp), np.array(necd))),
        "pref_dev": float(preference.pref_dev(np.array(nwp), np.array(necd))),
    }


def census() -> Stated:
    """One row a person; 8 of 30,162 rows are left out."""
    columns = (
        generalized("age", ("[15, 30)", "[30, 45)", "[45, 60)", f"{CANARY}-label"), 16, 0.1574),
        generalized("workclass", ("Employee", "Own-or-family-business"), 7, 0.5561),
        generalized("education", ("School", "Higher-education"), 16, 0.5020),
        generalized("marital-status", ("Ever-married", "Never-married"), 7, 0.5427),
        generalized("occupation", ("*",), 14, 1.0),
        generalized("race", ("*",), 5, 1.0),
        generalized("sex", ("Female", "Male"), 2, 0.0003),
        generalized("native-country", ("*",), 41, 1.0),
        column("salary-class", "label", Treatment.VERBATIM, ("salary-class",)),
    )
    spread = spread_of_rows(sizes(SIZES), 0.2)
    quasi = tuple(column.name for column in columns[:-1])
    left = 8
    return Stated(
        release="adult_anon-2026-11-16-8c1f",
        source_rows=spread.total + left,
        source_people=spread.total + left,
        mode=Mode.TABLE,
        subject=None,
        columns=columns,
        required_k=5,
        audit=Audit(quasi, None, spread),
        scores=scores_of(columns, spread, left),
        preference={"nwp": 0.2, "necd": 1.0},
        suppression=suppression(
            spread.total + left,
            rows=left,
            limit=0.01,
            subgroups=(
                subgroup("age", "[15, 30)", 9667, 1),
                subgroup("age", f"{CANARY}-small", 63, 6),
                subgroup("age", "[45, 60)", 7012, 1),
                subgroup("workclass", "Employee", 26803, 2),
                subgroup("workclass", "Own-or-family-business", 3359, 6),
                subgroup("sex", "Female", 9782, 7),
                subgroup("sex", "Male", 20380, 1),
            ),
        ),
        unique_rows=2,
        warnings=(f"2 of 30,154 rows are unique in {CANARY}",),
        table_hash="3b1e4f7a" * 8,
        sql=f"CREATE TABLE adult_anon AS\nSELECT '{CANARY}' AS age FROM people",
    )


def worst(
    column: str,
    share: float,
    fewest: int,
    entropy: float = 0.0,
    c: float = math.inf,
    equal: float = math.inf,
    ordered: float | None = None,
    hierarchical: float | None = None,
    beta: float = math.inf,
    delta: float = math.inf,
) -> Sensitive:
    """The figures of a column, unbounded unless given."""
    figures = {
        "largest_share": share, "fewest_values": fewest, "entropy_l": entropy, "recursive_c": c,
        "t_equal": equal, "t_ordered": ordered, "t_hierarchical": hierarchical, "beta": beta,
        "delta": delta,
    }  # fmt: skip
    return Sensitive(column, figures)


def hospital() -> Stated:
    """Several rows a person, counted by a subject; a sensitive column, pseudonyms, a past."""
    # Rows and people of each class: (8, 4), (10, 5), (30, 20); nobody is in two of them.
    rows = spread_of_rows([ClassSize(8, 1, 8), ClassSize(10, 1, 10), ClassSize(30, 1, 30)], 0.2)
    people = spread_of_people(
        [ClassSize(4, 1, 8), ClassSize(5, 1, 10), ClassSize(20, 1, 30)],
        [(4, 4), (5, 5), (20, 20)],
        0.2,
    )
    bounds = column(
        "admitted", "quasi", Treatment.GENERALIZED, ("admitted_low", "admitted_high"), groups=2,
        values=365, labels=("2025-01-01", "2025-07-01"), loss=0.5,
    )  # fmt: skip
    sensitive = (worst("disease", 1.0, 1), worst("ward", 0.75, 2))
    return replace(
        census(),
        release="visits-0003",
        source_rows=50,
        source_people=30,
        subject="patient_id",
        mode=Mode.VIEW,
        columns=(
            column("name", "identifying", Treatment.REMOVED),
            column(
                "patient_id", "pseudonym", Treatment.PSEUDONYM, ("patient_id",), stable=True
            ),
            generalized("sex", ("Female", "Male", None), 3, 0.04),
            bounds,
            column("disease", "sensitive", Treatment.VERBATIM, ("disease",)),
            column("ward", "sensitive", Treatment.VERBATIM, ("ward",), accepted="few wards"),
        ),
        required_k=4,
        audit=Audit(
            ("sex", "admitted_low", "admitted_high"), "_subject", rows, people, sensitive
        ),
        scores={"nwp": 0.27, "necd": 16 / 29, "glm": 27.0, "glm_share": 0.27, "dcn": 1114},
        preference=None,
        suppression=suppression(50, rows=1, limit=0.05, unseen=1),
        unique_rows=30,
        findings=(
            Finding("ward", FindingKind.NEAR_UNIQUE, f"column 'ward' is nearly unique {CANARY}"),
        ),
        earlier=(
            earlier("visits-0002", dt.datetime(2026, 10, 1, tzinfo=dt.UTC), "22" * 32, 4),
            earlier("visits-0001", dt.datetime(2026, 9, 1, 8, 30, tzinfo=dt.UTC), "11" * 32, 6),
        ),
        table_hash="c0ffee00" * 8,
    )  # fmt: skip


def clinic() -> Stated:
    """The hospital under privacy models and with a population; its rows are not all released."""
    facts = hospital()
    # In the worst class three quarters of the people are in one of two wards: exp of the entropy
    # is 1.7548, and 3 / 1 people are the recursive c. Half of the source is in each ward.
    ward = worst("ward", 0.75, 2, 1.754765351, 3.0, 0.25, None, None, 0.5, 0.693147181)
    models: list[tuple[Model, float]] = [
        (DistinctDiversity("ward", 2), 2.0),
        (Closeness("ward", 0.3, Distance.EQUAL), 0.25),
        (KMap(None, 6), 6.0),
    ]
    audit = replace(
        facts.audit,
        sensitive=(facts.audit.sensitive[0], ward),
        models=tuple(AuditedModel(model, value, 0, 0, 0) for model, value in models),
        journalist=Journalist(6, 0, 1 / 6, 0.05, 0.0, 0.04, 0),
        uniques=Uniques(0, 700, 3.5),
    )
    return replace(
        facts,
        release="visits-0004",
        audit=audit,
        homogeneity=HomogeneityEntry(columns=("disease",), accept="everybody here has the flu"),
    )
