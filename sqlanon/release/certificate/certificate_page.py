"""The page of a certificate: one HTML document without scripts or anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from sqlanon.domain import Mode
from sqlanon.release.certificate.certify import band_ends, is_hit
from sqlanon.release.certificate.document import (
    ColumnEntry,
    Document,
    SensitiveEntry,
    SubgroupEntry,
    Treatment,
    write_time,
)
from sqlanon.release.certificate.sentences import day, groups_in, listed
from sqlanon.wording import figure, percent

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
            models=list(_models(document)),
            sensitive=[(each, _worst(each)) for each in document.privacy.sensitive],
            bands=list(_bands(document)),
            losses=list(_losses(document)),
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
    privacy = document.privacy
    found = {band.least: band for band in privacy.bands}
    inside = () if document.is_shareable else document.privacy.bands
    exact = {band.least: band for band in inside}
    for least, most in band_ends(privacy.required_k):
        if least > privacy.largest:
            return
        name = _size_range(least, most)
        if least not in found:
            yield Bar(name, 0.0, ("0 %", "–", "–") if exact else ("0 %",))
        elif least in exact:
            band = exact[least]
            share = band.rows / document.release.rows
            yield Bar(name, share, (percent(share), f"{band.classes:,}", f"{band.rows:,}"))
        else:
            share = found[least].share
            yield Bar(name, share, (percent(share) if share else "under 1 %",))


def _size_range(least: int, most: int | None) -> str:
    if most is None:
        return f"{least:,} or more"
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _models(document: Document) -> Iterator[tuple[str, str]]:
    """What is required beyond k, and the number that the recount found."""
    for model in document.privacy.models:
        counted = model.reached if document.is_shareable else model.counted
        yield model.required, "holds" if counted is None else figure(counted)


def _worst(worst: SensitiveEntry) -> list[tuple[str, str]]:
    """The figures of a sensitive column beside its share, by their titles."""
    stated = worst.model_dump()
    return [
        (title, figure(stated[name]))
        for name, title in WORST.items()
        if stated.get(name) is not None
    ]


def _losses(document: Document) -> Iterator[Bar]:
    for column in document.columns:
        if column.loss is not None:
            yield Bar(column.name, column.loss, (percent(column.loss),))


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
