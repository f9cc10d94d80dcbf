"""The two forms of a certificate as JSON.

Every class named Shared… is a section of the form that may be passed on; its subclass adds what
stays inside. So the shareable form is a projection of the internal one, and a new field stays
inside unless it is put into a Shared… class on purpose.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer

from sqlanon.certificate.facts import Treatment
from sqlanon.model import Mode
from sqlanon.privacy import Measure

FORMAT = "sqlanon certificate"
VERSION = 1

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def write_time(time: dt.datetime) -> str:
    """In UTC, such as 2026-11-16T11:04:14Z."""
    return time.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


Time = Annotated[AwareDatetime, PlainSerializer(write_time)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SharedRelease(Section):
    id: str
    time: Time
    mode: Mode
    rows: Count
    people: Count
    hash: str


class Release(SharedRelease):
    target: str


class SharedPolicy(Section):
    fingerprint: str


class Policy(SharedPolicy):
    origin: str | None


class Scheme(Section):
    fingerprint: str


class SharedSource(Section):
    rows: Count
    people: Count


class Source(SharedSource):
    name: str


class SharedColumn(Section):
    name: str
    role: str
    treatment: Treatment
    released_as: tuple[str, ...]
    groups: Count | None
    values: Count | None
    loss: Share | None
    stable: bool
    accepted: str | None
    # None in certificates of earlier versions.
    groups_released: Count | None = None
    largest_share: Share | None = None


class Column(SharedColumn):
    # A group without released rows is known from its label only.
    labels: tuple[str | None, ...]


class SharedBand(Section):
    # The last band has no upper end.
    least: Count
    most: Count | None
    share: Share


class Band(SharedBand):
    classes: Count
    rows: Count


class Size(Section):
    size: Count
    classes: Count
    rows: Count


class Risk(Section):
    threshold: Share
    highest: Share
    average: Share
    above: Share
    marketer: Share


class ByRows(Section):
    k: Count
    classes: Count


class SharedWorst(Section):
    column: str
    largest_share: Share
    fewest_values: Count
    # None in certificates of earlier versions, and where there is no bound.
    entropy_l: Amount | None = None
    recursive_c: Amount | None = None


class Worst(SharedWorst):
    # Beside the release these tell what the rows hold that were left out.
    t_equal: Amount | None = None
    t_ordered: Amount | None = None
    t_hierarchical: Amount | None = None
    beta: Amount | None = None
    delta: Amount | None = None


class SharedModel(Section):
    key: str
    column: str | None
    required: str
    measure: Measure
    top: Count
    bound: Amount
    # None where it would tell what the rows hold that were left out.
    reached: Amount | None


class Model(SharedModel):
    counted: Amount


class Homogeneity(Section):
    columns: tuple[str, ...]
    accept: str


class Journalist(Section):
    k_map: Count
    unmatched: Count
    highest: Share
    average: Share
    above: Share
    marketer: Share
    population: Count | None
    estimated_uniques: Amount | None


class SharedPrivacy(Section):
    subject: str | None
    quasi: tuple[str, ...]
    required_k: Count
    k: Count
    classes: Count
    largest: Count
    average: Annotated[float, Field(ge=0)]
    bands: tuple[SharedBand, ...]
    risk: Risk
    by_rows: ByRows
    sensitive: tuple[SharedWorst, ...]
    unique: str
    # Certificates of earlier versions have none of these.
    models: tuple[SharedModel, ...] = ()
    homogeneity: Homogeneity | None = None
    journalist: Journalist | None = None
    # What the policy requires, where the release was made for a higher k.
    policy_k: Count | None = None


class Privacy(SharedPrivacy):
    bands: tuple[Band, ...]
    sensitive: tuple[Worst, ...]
    models: tuple[Model, ...] = ()
    sizes: tuple[Size, ...]
    unique_rows: Count


class Scores(Section):
    nwp: float | None = None
    necd: float | None = None
    glm: float | None = None
    glm_share: float | None = None
    dcn: int | None = None
    ce: float | None = None
    ach: float | None = None
    pref_dev: float | None = None


class Preference(Section):
    nwp: Share
    necd: Share


class Subgroup(Section):
    column: str
    label: str | None
    rows: Count
    left_out: Count


class SharedSuppression(Section):
    rows: Count
    limit: Share
    marked: bool
    unseen: Count
    # None: whom suppression hits was not counted.
    uneven: tuple[str, ...] | None


class Suppression(SharedSuppression):
    subgroups: tuple[Subgroup, ...]


class SharedFinding(Section):
    column: str
    kind: str


class Finding(SharedFinding):
    message: str


class Prior(Section):
    id: str
    time: Time
    hash: str
    k: Count


class Protection(Section):
    against: str
    protects: str
    remains: tuple[str, ...]


class Words(Section):
    summary: str
    protection: tuple[Protection, ...]
    notice: str


class Shareable(Section):
    """The form that may be passed on."""

    format: Literal["sqlanon certificate"]
    version: Literal[1]
    form: str
    release: SharedRelease
    software: dict[str, str]
    policy: SharedPolicy
    scheme: Scheme
    source: SharedSource
    columns: tuple[SharedColumn, ...]
    privacy: SharedPrivacy
    scores: Scores
    preference: Preference | None
    suppression: SharedSuppression
    findings: tuple[SharedFinding, ...]
    prior: tuple[Prior, ...]
    words: Words


class Internal(Shareable):
    """Everything; to be read by the publisher only."""

    release: Release
    policy: Policy
    source: Source
    columns: tuple[Column, ...]
    privacy: Privacy
    suppression: Suppression
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    sql: str


FORMS: dict[str, type[Shareable]] = {"internal": Internal, "shareable": Shareable}
