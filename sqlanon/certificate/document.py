"""The two forms of a certificate as JSON.

Every class named Shared… is a section of the form that may be passed on; its subclass adds what
stays inside. So the shareable form is a projection of the internal one, and a new field stays
inside unless it is put into a Shared… class on purpose.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer, TypeAdapter

from sqlanon.certificate.facts import Treatment
from sqlanon.model import Mode

FORMAT = "sqlanon certificate"
VERSION = 1

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


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


class Worst(Section):
    column: str
    largest_share: Share
    fewest_values: Count


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
    sensitive: tuple[Worst, ...]
    unique: str


class Privacy(SharedPrivacy):
    bands: tuple[Band, ...]
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

_SHAREABLE = TypeAdapter(Shareable)


def share(document: Shareable) -> Shareable:
    """The shareable form of either form."""
    # Serialized by the type Shareable, an object shows only the fields which that type and the
    # types of its sections declare, whatever its own class has.
    content: dict[str, Any] = _SHAREABLE.dump_python(document, mode="json")
    content["form"] = "shareable"
    return Shareable.model_validate(content, strict=False)
