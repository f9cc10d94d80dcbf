"""The document of a certificate: its sections and keys, and which of them may be passed on.

The internal form has every key. The shareable form has those that are marked `Shared`, so a new
key stays inside unless it is marked on purpose.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer

from sqlanon.audit import HashVersion
from sqlanon.domain import Labels, Mode, Recoding
from sqlanon.errors import CertificateError, PrivacyError
from sqlanon.privacy import Model, certified_model

FORMAT: Final = "sqlanon certificate"
VERSION: Final = 3


class Treatment(StrEnum):
    """What happened to a column."""

    REMOVED = "removed"
    PSEUDONYM = "pseudonym"
    GENERALIZED = "generalized"
    VERBATIM = "verbatim"


class _Mark:
    """Marks a key that may be passed on."""


SHARED = _Mark()
T = TypeVar("T")
Shared = Annotated[T, SHARED]

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def write_time(time: dt.datetime) -> str:
    """In UTC, such as 2026-11-16T11:04:14Z."""
    return time.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


Time = Annotated[AwareDatetime, PlainSerializer(write_time)]


class Entry(BaseModel):
    """A part of the document. Keys that are not shared are empty in the shareable form."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    @classmethod
    def shared_keys(cls) -> tuple[str, ...]:
        """The keys that may be passed on."""
        return tuple(name for name, each in cls.model_fields.items() if SHARED in each.metadata)

    def content(self, *, shareable: bool) -> dict[str, Any]:
        """For JSON: every key, or those that may be passed on."""
        plain = self.model_dump(mode="json", exclude=set(self._sections()))
        found: dict[str, Any] = {}
        for name in self.shared_keys() if shareable else type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, Entry):
                found[name] = value.content(shareable=shareable)
            elif name in plain:
                found[name] = plain[name]
            else:
                found[name] = [each.content(shareable=shareable) for each in value]
        return found

    def misplaced(self, *, shareable: bool, path: str = "") -> Iterator[tuple[str, bool]]:
        """The keys that the form lacks or must not have, each with whether it is there."""
        inside = set(type(self).model_fields) - set(self.shared_keys())
        for name in sorted(inside):
            is_there = name in self.model_fields_set
            if is_there is shareable:
                yield f"{path}{name}", is_there
        for name, several in self._sections().items():
            for place, section in enumerate(several):
                number = f".{place}" if isinstance(getattr(self, name), tuple) else ""
                here = f"{path}{name}{number}."
                yield from section.misplaced(shareable=shareable, path=here)

    def _sections(self) -> dict[str, tuple[Entry, ...]]:
        """The sections in this one by their keys."""
        found: dict[str, tuple[Entry, ...]] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, Entry):
                found[name] = (value,)
            elif isinstance(value, tuple) and value and isinstance(value[0], Entry):
                found[name] = value
        return found


class ReleaseEntry(Entry):
    id: Shared[str]
    time: Shared[Time]
    mode: Shared[Mode]
    rows: Shared[Count]
    people: Shared[Count]
    hash: Shared[str]
    hash_version: Shared[HashVersion]
    target: str = ""


class PolicyEntry(Entry):
    fingerprint: Shared[str]
    origin: str | None = None


class SchemeEntry(Entry):
    fingerprint: Shared[str]
    recoding: Shared[Recoding] = Recoding.GLOBAL
    labels: Shared[Labels | None] = None
    accept: Shared[str | None] = None


class SourceEntry(Entry):
    rows: Shared[Count]
    people: Shared[Count]
    name: str = ""


class ColumnEntry(Entry):
    name: Shared[str]
    role: Shared[str]
    treatment: Shared[Treatment]
    released_as: Shared[tuple[str, ...]] = ()
    groups: Shared[Count | None] = None
    values: Shared[Count | None] = None
    loss: Shared[Share | None] = None
    stable: Shared[bool] = False
    accepted: Shared[str | None] = None
    groups_released: Shared[Count | None] = None
    largest_share: Shared[Share | None] = None
    # A group without released rows is known from its label only.
    labels: tuple[str | None, ...] = ()


class BandEntry(Entry):
    # The last band has no upper end.
    least: Shared[Count]
    most: Shared[Count | None]
    share: Shared[Share]
    classes: Count = 0
    rows: Count = 0


class SizeEntry(Entry):
    size: Count
    classes: Count
    rows: Count


class RiskEntry(Entry):
    threshold: Shared[Share]
    highest: Shared[Share]
    average: Shared[Share]
    above: Shared[Share]
    marketer: Shared[Share]


class RowsEntry(Entry):
    k: Shared[Count]
    classes: Shared[Count]


class SensitiveEntry(Entry):
    column: Shared[str]
    largest_share: Shared[Share]
    fewest_values: Shared[Count]
    # None where there is no bound.
    entropy_l: Shared[Amount | None] = None
    recursive_c: Shared[Amount | None] = None
    # Beside the release these show what the rows hold that were left out.
    t_equal: Amount | None = None
    t_ordered: Amount | None = None
    t_hierarchical: Amount | None = None
    beta: Amount | None = None
    delta: Amount | None = None


class ModelEntry(Entry):
    key: Shared[str]
    column: Shared[str | None]
    required: Shared[str]
    measure: Shared[str]
    top: Shared[Count]
    bound: Shared[Amount]
    # None where it would show what the rows hold that were left out.
    reached: Shared[Amount | None]
    counted: Amount | None = None

    def model(self) -> Model:
        """The model that the certificate states."""
        try:
            return certified_model(self.measure, self.column, self.bound, self.top)
        except KeyError:
            reason = f"there is no model with the measure {self.measure!r}"
            raise CertificateError(f"certificate: privacy.models: {reason}") from None
        except PrivacyError as error:
            raise CertificateError(f"certificate: privacy.models: {error}") from error


class HomogeneityEntry(Entry):
    columns: Shared[tuple[str, ...]]
    accept: Shared[str]


class JournalistEntry(Entry):
    k_map: Shared[Count]
    unmatched: Shared[Count]
    highest: Shared[Share]
    average: Shared[Share]
    above: Shared[Share]
    marketer: Shared[Share]
    population: Shared[Count | None]
    estimated_uniques: Shared[Amount | None]


class PrivacyEntry(Entry):
    subject: Shared[str | None]
    quasi: Shared[tuple[str, ...]]
    required_k: Shared[Count]
    k: Shared[Count]
    classes: Shared[Count]
    largest: Shared[Count]
    average: Shared[Annotated[float, Field(ge=0)]]
    bands: Shared[tuple[BandEntry, ...]]
    risk: Shared[RiskEntry]
    by_rows: Shared[RowsEntry]
    sensitive: Shared[tuple[SensitiveEntry, ...]]
    unique: Shared[str]
    models: Shared[tuple[ModelEntry, ...]] = ()
    homogeneity: Shared[HomogeneityEntry | None] = None
    journalist: Shared[JournalistEntry | None] = None
    # What the policy requires, where the release was made for a higher k.
    policy_k: Shared[Count | None] = None
    sizes: tuple[SizeEntry, ...] = ()
    unique_rows: Count = 0


class ScoresEntry(Entry):
    nwp: Shared[float | None] = None
    necd: Shared[float | None] = None
    glm: Shared[float | None] = None
    glm_share: Shared[float | None] = None
    dcn: Shared[int | None] = None
    ce: Shared[float | None] = None
    ach: Shared[float | None] = None
    pref_dev: Shared[float | None] = None


class PreferenceEntry(Entry):
    nwp: Shared[Share]
    necd: Shared[Share]


class SubgroupEntry(Entry):
    column: str
    label: str | None
    rows: Count
    left_out: Count


class SuppressionEntry(Entry):
    rows: Shared[Count]
    limit: Shared[Share]
    marked: Shared[bool]
    unseen: Shared[Count]
    # None: whom suppression hits was not counted.
    uneven: Shared[tuple[str, ...] | None]
    subgroups: tuple[SubgroupEntry, ...] = ()


class FindingEntry(Entry):
    column: Shared[str]
    kind: Shared[str]
    message: str = ""


class EarlierEntry(Entry):
    id: Shared[str]
    time: Shared[Time]
    hash: Shared[str]
    hash_version: Shared[HashVersion]
    k: Shared[Count]


class LineageEntry(Entry):
    # Newest first.
    earlier: Shared[tuple[EarlierEntry, ...]] = ()


class ProtectionEntry(Entry):
    against: Shared[str]
    protects: Shared[str]
    remains: Shared[tuple[str, ...]]


class WordsEntry(Entry):
    summary: Shared[str] = ""
    protection: Shared[tuple[ProtectionEntry, ...]] = ()
    notice: Shared[str] = ""


class Document(Entry):
    """A certificate in either form."""

    format: Shared[Literal["sqlanon certificate"]] = FORMAT
    version: Shared[Literal[3]] = VERSION
    form: Shared[Literal["internal", "shareable"]] = "internal"
    # None in certificates of version 1.
    digest: Shared[str | None] = None
    release: Shared[ReleaseEntry]
    software: Shared[dict[str, str]]
    policy: Shared[PolicyEntry]
    scheme: Shared[SchemeEntry]
    source: Shared[SourceEntry]
    columns: Shared[tuple[ColumnEntry, ...]]
    privacy: Shared[PrivacyEntry]
    scores: Shared[ScoresEntry]
    preference: Shared[PreferenceEntry | None]
    suppression: Shared[SuppressionEntry]
    findings: Shared[tuple[FindingEntry, ...]]
    lineage: Shared[LineageEntry]
    # For what and for whom the release is; not stated yet.
    context: Shared[dict[str, str] | None] = None
    words: Shared[WordsEntry] = WordsEntry()
    warnings: tuple[str, ...] = ()
    sql: str = ""

    @property
    def is_shareable(self) -> bool:
        """Whether this is the shareable form only."""
        return self.form == "shareable"

    def sealed(self) -> Document:
        """The same with the digest of its content."""
        return self.model_copy(update={"digest": digest_of(self.in_form(self.form))})

    def in_form(self, form: str) -> dict[str, Any]:
        """The content of one form, without its digest."""
        content = self.content(shareable=form == "shareable")
        return content | {"form": form, "digest": None}


def digest_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a document's JSON, keys in order, without the digest itself.

    It is not signed: it shows that a file was damaged or edited by mistake, not that it was
    forged, because a forger would write a new digest.
    """
    unsealed = {key: value for key, value in content.items() if key != "digest"}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def upgraded(content: dict[str, Any], version: int) -> dict[str, Any]:
    """The content of a certificate of an earlier version in the form of the newest.

    Version 1 had no digest, and listed earlier releases as `prior`. Versions 1 and 2 did not say
    which version of the hash they have: it is the first.
    """
    if version == 1:
        content = {**content, "lineage": {"earlier": content.get("prior", [])}}
        content |= {"digest": None, "context": None}
        content.pop("prior", None)
    lineage: Any = content.get("lineage")
    if isinstance(lineage, dict) and isinstance(lineage.get("earlier"), list):
        lineage = {**lineage, "earlier": [_with_first_hash(each) for each in lineage["earlier"]]}
    release = _with_first_hash(content.get("release"))
    return {**content, "version": VERSION, "release": release, "lineage": lineage}


def _with_first_hash(entry: object) -> object:
    return {**entry, "hash_version": 1} if isinstance(entry, dict) else entry
