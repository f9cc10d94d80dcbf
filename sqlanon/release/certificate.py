"""A certificate: a JSON file and a page that accompany a release, each in two forms.

The internal form has every key. The shareable form has those that are marked `Shared`, so a new
key stays inside unless it is marked on purpose. The page is one HTML document without scripts or
anything from elsewhere.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import jinja2
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer, ValidationError

from sqlanon.audit import HashVersion
from sqlanon.documents import first_mistake, parse_json, read_text, version_of
from sqlanon.domain import Labels, Mode, Recoding
from sqlanon.errors import CertificateError, PrivacyError
from sqlanon.files import write_text
from sqlanon.privacy import Model, certified_model
from sqlanon.wording import brief_list, figure, percent

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
    label_kind: Shared[Labels | None] = None
    accept: Shared[str | None] = None

    def content(self, *, shareable: bool) -> dict[str, Any]:
        """As of every entry; what is said of regions only where there are some."""
        found = super().content(shareable=shareable)
        return {k: v for k, v in found.items() if v is not None}


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


BANDS = (1, 2, 5, 10, 50, 200)
"""Class sizes are shown in bands that begin at these multiples of the required k."""


UNEVEN_SHARE, UNEVEN_FACTOR = 0.05, 2
"""A label is hit by suppression if it loses this share of its rows and this multiple of what
the whole table loses."""


def band_ends(required_k: int) -> Iterator[tuple[int, int | None]]:
    """The least and the greatest class size of every band; the last one has no end."""
    starts = [required_k * multiple for multiple in BANDS]
    yield from zip(starts, [*(start - 1 for start in starts[1:]), None], strict=True)


def is_hit(left_out: int, rows: int, all_left_out: int, all_rows: int) -> bool:
    """Whether suppression hits a label harder than the table: see UNEVEN_SHARE."""
    return (
        left_out > 0
        and left_out >= UNEVEN_SHARE * rows
        and left_out * all_rows >= UNEVEN_FACTOR * all_left_out * rows
    )


MOST_LISTED = 12

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: a, b and c."""
    if len(names) > MOST_LISTED:
        rest = len(names) - MOST_LISTED + 1
        names = [*names[: MOST_LISTED - 1], f"{rest} more columns"]
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def day(time: dt.datetime) -> str:
    """The day in UTC, spelled out independently of the locale."""
    utc = time.astimezone(dt.UTC)
    return f"{utc.day} {MONTHS[utc.month - 1]} {utc.year}"


def groups_in(column: ColumnEntry) -> int:
    """The groups that occur in the release; of earlier certificates those of the scheme."""
    return (column.groups if column.groups_released is None else column.groups_released) or 0


MOST_LABELS = 8
MOST_SIZES = 8
MOST_SUBGROUPS = 12

ROLES = {"quasi": "quasi-identifier"}

WORST = {
    "entropy_l": "entropy l",
    "recursive_c": "recursive c",
    "t_equal": "t (equal)",
    "t_ordered": "t (ordered)",
    "t_hierarchical": "t (hierarchical)",
    "beta": "β",
    "delta": "δ",
}

MODES = {
    Mode.TABLE: "a table of its own",
    Mode.REPLACE: "in place of its source",
    Mode.VIEW: "a view of its source",
}

SCORES = {
    "nwp": ("NWP", "information lost, weighted by column, 0 to 1"),
    "necd": ("NECD", "bias: how unequal the groups are in size, 0 to 1"),
    "glm_share": ("GLM", "general loss metric as a share of its maximum, 0 to 1"),
    "dcn": ("DCN", "discernibility: Σ of squared group sizes, and what was suppressed"),
    "ce": ("CE", "share of rows that differ from their group's most frequent label"),
}


@dataclass(frozen=True)
class Bar:
    """One line of a bar chart; `share` is the length of the bar, 0 to 1."""

    name: str
    share: float
    figures: tuple[str, ...]


def render_page(document: Document) -> str:
    """The page of either form; it shows no more than the form holds."""
    internal = None if document.is_shareable else document
    hit = list(_subgroups(internal)) if internal else []
    return (
        _environment()
        .get_template("certificate.html")
        .render(
            document=document,
            internal=internal,
            columns=[(column, *_became(column)) for column in document.columns],
            labels=_labels(internal) if internal else [],
            models=[(each.required, _reached(each, document)) for each in document.privacy.models],
            sensitive=[(each, _worst(each)) for each in document.privacy.sensitive],
            bands=list(_bands(document)),
            losses=[
                Bar(each.name, each.loss, (percent(each.loss),))
                for each in document.columns
                if each.loss is not None
            ],
            sizes=internal.privacy.sizes[:MOST_SIZES] if internal else (),
            scores=list(_scores(document)),
            subgroups=hit[:MOST_SUBGROUPS],
            more_subgroups=max(len(hit) - MOST_SUBGROUPS, 0),
            warnings=_warnings(internal) if internal else [],
            modes=MODES,
            roles=ROLES,
        )
    )


def _became(column: ColumnEntry) -> tuple[str, str]:
    """What became of a column, as a word and in detail."""
    if column.treatment is Treatment.REMOVED:
        return "removed", ""
    if column.treatment is Treatment.VERBATIM:
        return "unchanged", ""
    if column.treatment is Treatment.PSEUDONYM:
        detail = "the same in every release" if column.stable else "new in every release"
        return "pseudonym", detail
    groups, values = groups_in(column), column.values or 0
    if column.groups == 1:
        return "hidden", f"one group of all {values:,} values"
    if groups <= 1:
        return "hidden", f"one of {column.groups or 0:,} groups occurs"
    share = ""
    if column.largest_share is not None:
        share = f"; {percent(column.largest_share)} of the rows are in the largest"
    if column.groups == values:
        occur = f"; {groups:,} occur" if groups < values else ""
        return "kept", f"each of its {values:,} values on its own{occur}{share}"
    return "grouped", f"{groups:,} groups of {values:,} values{share}"


def _labels(document: Document) -> list[tuple[str, str]]:
    """The labels of every column with more than one group, shortened."""
    found = []
    for column in document.columns:
        if (column.groups or 0) > 1 and column.labels:
            labels = ["NULL" if label is None else label for label in column.labels]
            more = len(labels) - MOST_LABELS
            text = " · ".join(labels[:MOST_LABELS]) + (f" · … {more:,} more" if more > 0 else "")
            found.append((column.name, text))
    return found


def _bands(document: Document) -> Iterator[Bar]:
    """All bands up to the largest class, those without classes too."""
    privacy, internal = document.privacy, not document.is_shareable
    found = {band.least: band for band in privacy.bands}
    for least, most in band_ends(privacy.required_k):
        if least > privacy.largest:
            return
        name, band = _size_range(least, most), found.get(least)
        if band is None:
            yield Bar(name, 0.0, ("0 %", "–", "–") if internal else ("0 %",))
        elif internal:
            share = band.rows / document.release.rows
            yield Bar(name, share, (percent(share), f"{band.classes:,}", f"{band.rows:,}"))
        else:
            yield Bar(name, band.share, (percent(band.share) if band.share else "under 1 %",))


def _size_range(least: int, most: int | None) -> str:
    if most is None:
        return f"{least:,} or more"
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _reached(model: ModelEntry, document: Document) -> str:
    """The number that the recount found of a model that is required beyond k."""
    counted = model.reached if document.is_shareable else model.counted
    return "holds" if counted is None else figure(counted)


def _worst(worst: SensitiveEntry) -> list[tuple[str, str]]:
    """The figures of a sensitive column beside its share, by their titles."""
    stated = worst.model_dump()
    return [
        (title, figure(stated[name]))
        for name, title in WORST.items()
        if stated.get(name) is not None
    ]


def _scores(document: Document) -> Iterator[tuple[str, str, str]]:
    values = document.scores.model_dump()
    wanted = {} if document.preference is None else document.preference.model_dump()
    for name, (title, meaning) in SCORES.items():
        value = values[name]
        if value is not None:
            shown = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
            preferred = f"; preferred {wanted[name]:g}" if name in wanted else ""
            yield title, shown, meaning + preferred


def _subgroups(document: Document) -> Iterator[tuple[SubgroupEntry, float, bool]]:
    """Labels that lost rows, hardest hit first: with their share, and whether they are hit."""
    suppression, rows = document.suppression, document.source.rows
    lost = [each for each in suppression.subgroups if each.left_out]
    for each in sorted(lost, key=lambda s: (-s.left_out / s.rows, -s.left_out)):
        hit = is_hit(each.left_out, each.rows, suppression.rows, rows)
        yield each, each.left_out / each.rows, hit


def _warnings(document: Document) -> list[str]:
    """Findings and warnings; a warning that repeats a finding, and says more, stands for it."""
    found = [each.message for each in document.findings]
    said = document.warnings
    return [*(f for f in found if not any(w.startswith(f) for w in said)), *said]


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    environment.filters["listed"] = listed
    environment.filters["time"] = write_time
    environment.filters["day"] = day
    environment.filters["figure"] = figure
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment


FORMS = ("internal", "shareable")


@dataclass(frozen=True, repr=False)
class Certificate:
    """The certificate of one release, in its internal or its shareable form.

    One that was read from a shareable file has no internal form: asking for it is an error.
    `is_intact` says whether its digest is that of its content: None without a digest, as in
    certificates of version 1.
    """

    document: Document
    is_intact: bool | None = True

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """The certificate in a JSON file of either form; every mistake is a CertificateError."""
        return _parsed(read_text(path, CertificateError), str(path))

    def __repr__(self) -> str:
        target = "" if self.target is None else f" of {brief_list([self.target], width=100)}"
        return f"<Certificate{target}, {self.document.form}: release {self.document.release.id}>"

    @property
    def is_shareable(self) -> bool:
        """Whether this is the shareable form only."""
        return self.document.is_shareable

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the release, in its order."""
        return tuple(name for column in self.document.columns for name in column.released_as)

    @property
    def target(self) -> str | None:
        """The name of the released table; None in the shareable form."""
        return None if self.is_shareable else self.document.release.target

    def chain(self) -> tuple[EarlierEntry, ...]:
        """What the next certificate of the same target lists as earlier: this release, newest
        first, and those before it."""
        release, k = self.document.release, self.document.privacy.k
        this = EarlierEntry(
            id=release.id,
            time=release.time,
            hash=release.hash,
            hash_version=release.hash_version,
            k=k,
        )
        return (this, *self.document.lineage.earlier)

    def to_dict(self, shareable: bool = False) -> dict[str, Any]:
        """For JSON; the keys are always in the same order (see docs/certificate.md)."""
        return self._form(shareable).content(shareable=shareable or self.is_shareable)

    def to_html(self, shareable: bool = False) -> str:
        """The page: one HTML document that needs nothing else."""
        return render_page(self._form(shareable))

    def write(self, path: str | Path, shareable: bool = False) -> None:
        """Writes the JSON file, which is replaced as a whole or not at all.

        The internal form is readable by its owner only.
        """
        document = self.to_dict(shareable)
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        write_text(path, text + "\n", private=not shareable)

    def write_page(self, path: str | Path, shareable: bool = False) -> None:
        """The same for the page."""
        write_text(path, self.to_html(shareable), private=not shareable)

    def _form(self, shareable: bool) -> Document:
        if shareable and not self.is_shareable:
            content = self.document.in_form("shareable")
            return Document.model_validate(content, strict=False).sealed()
        if self.is_shareable and not shareable:
            raise CertificateError(
                f"the certificate of release {self.document.release.id} was read from its "
                "shareable form, which cannot be turned back into the internal one"
            )
        return self.document


def _parsed(text: str, origin: str) -> Certificate:
    content = parse_json(text, origin, CertificateError)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CertificateError(f'{origin}: is not a certificate; "format" is not {FORMAT!r}')
    found = version_of(content, FORMAT, VERSION, origin, CertificateError)
    if content.get("form") not in FORMS:
        raise CertificateError(
            f"{origin}: form is {content.get('form')!r}, not one of {', '.join(FORMS)}"
        )
    newest = content if found == VERSION else upgraded(content, found)
    try:
        document = Document.model_validate_json(json.dumps(newest))
    except ValidationError as error:
        raise CertificateError(f"{origin}: {first_mistake(error)}") from None
    if found > 1:
        for path, is_there in document.misplaced(shareable=document.is_shareable):
            what = "is not a key of the shareable form" if is_there else "is missing"
            raise CertificateError(f"{origin}: {path}: {what}")
    missing = ""
    if not any(column.released_as for column in document.columns):
        missing = "columns: lists no released column"
    elif not document.privacy.quasi:
        missing = "privacy.quasi: lists no quasi-identifier"
    if missing:
        raise CertificateError(
            f"{origin}: {missing}, so this is the certificate of no release; take the file that "
            "`sqlanon publish` wrote"
        )
    intact = None if document.digest is None else document.digest == digest_of(content)
    if intact and found < VERSION:  # what is written again is of the newest version
        document = document.sealed()
    return Certificate(document, intact)
