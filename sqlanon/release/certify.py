"""From an order and what was counted to the document of a certificate.

The losses are counted on the release itself rather than taken from the search.
"""

from __future__ import annotations

import datetime as dt
import math
import platform
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from sqlanon.audit import HASH_VERSION, Audit, Facts, Marked, Sensitive, finite, settled
from sqlanon.documents import first_mistake
from sqlanon.domain import Cell, Generalized, Recoding, cell_text
from sqlanon.engines import Engine
from sqlanon.errors import CertificateError
from sqlanon.metrics import ReleaseCounts, recounted
from sqlanon.release.certificate import (
    BandEntry,
    ColumnEntry,
    Document,
    EarlierEntry,
    FindingEntry,
    HomogeneityEntry,
    JournalistEntry,
    LineageEntry,
    ModelEntry,
    PolicyEntry,
    PreferenceEntry,
    PrivacyEntry,
    ReleaseEntry,
    RiskEntry,
    RowsEntry,
    SchemeEntry,
    ScoresEntry,
    SensitiveEntry,
    SizeEntry,
    SourceEntry,
    SubgroupEntry,
    SuppressionEntry,
    Treatment,
    band_ends,
    is_hit,
)
from sqlanon.release.certificate_sentences import words_of
from sqlanon.release.compile import compile_release, text_of
from sqlanon.release.generalize import keeps_values
from sqlanon.release.lists import with_named_lists
from sqlanon.release.order import Order, Pseudonym, header_of, shown
from sqlanon.release.plan import ReleasePlan
from sqlanon.release.rows import class_values
from sqlanon.release.stage import SourceCounts
from sqlanon.render import render

Counts = Mapping[tuple[Cell, ...], int]
"""Rows by what a quasi-identifier holds: one value, or two bounds."""


def suppressed_rows(engine: Engine, plan: ReleasePlan, facts: Facts) -> dict[str, Counts]:
    """By column and value the suppressed rows; there are few, by the limit.

    They are the source's rows that the staged table does not hold, or holds marked: counted on
    both, whatever rule suppressed them. Rows with unseen values that are left out, as in every
    view, are not suppressed.
    """
    order = plan.order
    missing = facts.left_out > 0 or order.marker is not None
    if not missing or not (order.suppress or plan.guarded):
        return {}
    whole = replace(order, items=order.generalized, header=())
    select = compile_release(whole, guarded=plan.guarded, unsuppressed=True).select
    select.set("order", None)
    classes = {f"q{j}": value for j, (_, value) in enumerate(class_values(order))}
    query = render(
        "release/suppressed.sql",
        dialect=engine.dialect,
        classes=classes,
        rows=select.subquery("released"),
        staged=plan.stage,
    )
    *values, rows = (_cells(column) for column in engine.fetch(query).columns)
    found: dict[str, Counts] = {}
    at = 0
    for item in order.generalized:
        width = len(item.released_names)
        counts: Counter[tuple[Cell, ...]] = Counter()
        for *key, n in zip(*values[at : at + width], rows, strict=True):
            counts[tuple(key)] += n
        found[item.name] = counts
        at += width
    return found


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """The values, with one NaN for all, so that it is found in a mapping."""
    values = column.to_pylist()
    return [math.nan if isinstance(v, float) and math.isnan(v) else v for v in values]


def column_losses(order: Order, facts: Facts, source_rows: int) -> dict[str, float]:
    """Per column the mean of (|g|−1)/(|Σ|−1) over the source's rows, 1 for suppressed ones."""
    losses = {}
    for item in order.generalized:
        counts = facts.held[item.released_names].unmarked
        most = item.column.size - 1
        units, rows = 0, sum(counts.values())
        if not keeps_values(item, order):
            atoms = _atoms(item)
            units = sum(n * (atoms[key] - 1) for key, n in counts.items() if key in atoms)
            rows = sum(n for key, n in counts.items() if key in atoms)
        hidden = source_rows - rows  # left out, marked, or under the top label
        lost = (units + hidden * most) / (source_rows * most) if most else hidden / source_rows
        losses[item.name] = lost if source_rows else 0.0
    return losses


def _atoms(item: Generalized) -> dict[tuple[Cell, ...], int]:
    """How many atoms each group holds, by what is released for it."""
    sizes = [stop - start for start, stop in item.groups]
    return dict(zip(item.cells, sizes, strict=True))


def _scores(
    order: Order,
    losses: Mapping[str, float],
    facts: Facts,
    source: SourceCounts,
    suppressed: int,
) -> ScoresEntry:
    """The scores of docs/scores.md that follow from the release and the number of source rows."""
    audit, marked = facts.audited, facts.marked
    sizes = _sizes(audit, marked)
    squares = sum(each.size**2 * each.classes for each in audit.by_rows.sizes)
    counts = ReleaseCounts(
        source_rows=source.rows,
        source_people=source.people,
        suppressed=suppressed,
        losses=losses,
        weights={item.name: item.column.weight for item in order.generalized},
        smallest=min(sizes, default=0),
        largest=max(sizes, default=0),
        rows_squared=squares - marked.rows**2,
        of_majority=facts.of_majority,
    )
    scores: dict[str, Any] = recounted(counts)
    wish = order.preference
    if wish is not None:
        scores["ach"] = float(wish.ach(scores["nwp"], scores["necd"]))
        scores["pref_dev"] = float(wish.pref_dev(scores["nwp"], scores["necd"]))
    return ScoresEntry(**{n: v for n, v in scores.items() if n in ScoresEntry.model_fields})


def _sizes(audit: Audit, marked: Marked) -> dict[int, int]:
    """How many classes have how many people; marked rows are suppressed and do not count."""
    sizes = {each.size: each.classes for each in audit.spread.sizes}
    if marked.rows and marked.people in sizes:
        sizes[marked.people] -= 1
    return {size: classes for size, classes in sizes.items() if classes}


UNIQUE_BANDS = ((0.01, "under 1 %"), (0.1, "1 to 10 %"), (0.5, "10 to 50 %"))


def certify(
    order: Order,
    plan: ReleasePlan,
    source: SourceCounts,
    facts: Facts,
    suppressed: Mapping[str, Counts],
    earlier: Sequence[EarlierEntry],
    versions: Mapping[str, str],
) -> Document:
    """The internal form of the certificate of a release that was verified."""
    _refuse_short(order, facts)
    audit = facts.audited
    suppression = _suppression(order, source, facts, suppressed)
    losses, wish = column_losses(order, facts, source.rows), order.preference
    recoding = Recoding.GLOBAL if order.labels is None else Recoding.MULTIDIMENSIONAL
    header = header_of(order, audit.k, guarded=plan.guarded)
    given = replace(shown(order), header=tuple(header))
    given = with_named_lists(given, guarded=plan.guarded)
    try:
        draft = Document(
            release=ReleaseEntry(
                id=secrets.token_hex(8),
                time=dt.datetime.now(dt.UTC),
                mode=order.mode,
                rows=audit.rows,
                people=audit.people,
                hash=facts.hash,
                hash_version=HASH_VERSION,
                target=plan.target_name,
            ),
            software={
                "sqlanon": version("sqlanon"),
                **versions,
                "python": platform.python_version(),
            },
            policy=PolicyEntry(fingerprint=order.policy, origin=order.policy_origin),
            scheme=SchemeEntry(
                fingerprint=order.scheme,
                recoding=recoding,
                label_kind=order.labels,
                accept=order.tight,
            ),
            source=SourceEntry(rows=source.rows, people=source.people, name=order.name),
            columns=tuple(_columns(order, facts, losses)),
            privacy=privacy_entry(
                audit,
                subject=order.subject,
                required_k=order.k,
                policy_k=order.policy_k,
                unique_rows=facts.unique_rows,
                whole=audit.rows == source.rows,
                homogeneity=None
                if not order.uncovered or order.homogeneity is None
                else HomogeneityEntry(columns=order.uncovered, accept=order.homogeneity),
            ),
            scores=_scores(order, losses, facts, source, suppression.rows),
            preference=None if wish is None else PreferenceEntry(nwp=wish.loss, necd=wish.bias),
            suppression=suppression,
            findings=tuple(
                FindingEntry(column=each.column, kind=str(each.kind), message=each.message)
                for found in facts.findings.values()
                for each in found
            ),
            lineage=LineageEntry(earlier=tuple(earlier)),
            warnings=facts.warnings,
            sql=text_of(plan.select_as_given(given), given, plan.dialect),
        )
    except ValidationError as error:
        raise CertificateError(f"certificate: {first_mistake(error)}") from None
    return finished(draft)


def finished(draft: Document) -> Document:
    """The document with its sentences and its digest."""
    return draft.model_copy(update={"words": words_of(draft)}).sealed()


def following(document: Document, earlier: Sequence[EarlierEntry]) -> Document:
    """The document with other releases before it."""
    return finished(document.model_copy(update={"lineage": LineageEntry(earlier=tuple(earlier))}))


def _refuse_short(order: Order, facts: Facts) -> None:
    """Refuses to certify what the verification has to refuse, should it ever let it pass."""
    audit = facts.audited
    if {each.model for each in audit.models} != set(order.models):
        raise CertificateError("not every required model was counted, so nothing can be certified")
    if facts.problems or audit.k < order.k or not all(each.holds for each in audit.models):
        raise CertificateError("the release lacks what is required, so it gets no certificate")


def _columns(order: Order, facts: Facts, losses: Mapping[str, float]) -> Iterator[ColumnEntry]:
    items = {item.name: item for item in order.items}
    for name in order.roles or items:
        item = items.get(name)
        if item is None:
            yield ColumnEntry(name=name, role=order.roles[name], treatment=Treatment.REMOVED)
        elif isinstance(item, Generalized):
            yield _generalized(item, facts, losses[name])
        else:
            role = "sensitive" if name in order.audited else "insensitive"
            hashed = isinstance(item, Pseudonym)
            yield ColumnEntry(
                name=name,
                role=order.roles.get(name, "pseudonym" if hashed else role),
                treatment=Treatment.PSEUDONYM if hashed else Treatment.VERBATIM,
                released_as=item.released_names,
                accepted=order.accepted.get(name),
                stable=order.pseudonyms.get(name, False),
            )


def _generalized(item: Generalized, facts: Facts, loss: float) -> ColumnEntry:
    held = facts.held[item.released_names].groups
    return ColumnEntry(
        name=item.name,
        role="quasi",
        treatment=Treatment.GENERALIZED,
        released_as=item.released_names,
        groups=len(item.groups),
        values=item.column.size,
        labels=tuple(cell_text(group) for group in item.cells),
        groups_released=held.groups,
        largest_share=held.largest,
        loss=min(loss, 1.0),
    )


def _suppression(
    order: Order, source: SourceCounts, facts: Facts, suppressed: Mapping[str, Counts]
) -> SuppressionEntry:
    """How many rows were suppressed, and the groups that they are in."""
    rows = next((sum(counts.values()) for counts in suppressed.values()), 0)
    marked = order.marker is not None and rows > 0
    subgroups = tuple(
        each
        for item in (order.generalized if rows else ())
        for each in _subgroups(
            item.name, facts.held[item.released_names].unmarked, suppressed[item.name]
        )
    )
    return SuppressionEntry(
        rows=rows,
        limit=order.limit,
        marked=marked,
        unseen=facts.left_out - (0 if marked else rows),
        uneven=uneven_columns(subgroups, rows, source.rows),
        subgroups=subgroups,
    )


def _subgroups(column: str, kept: Counts, suppressed: Counts) -> Iterator[SubgroupEntry]:
    """By label of one column how many rows there were and how many were suppressed."""
    for key in {**kept, **suppressed}:
        left_out = suppressed.get(key, 0)
        rows = kept.get(key, 0) + left_out
        yield SubgroupEntry(column=column, label=cell_text(key), rows=rows, left_out=left_out)


def privacy_entry(
    audit: Audit,
    *,
    subject: str | None,
    required_k: int,
    policy_k: int | None,
    unique_rows: int,
    whole: bool,
    homogeneity: HomogeneityEntry | None,
) -> PrivacyEntry:
    """What was counted in the released table; `whole` says whether no row was left out."""
    spread = audit.spread
    return PrivacyEntry(
        subject=subject,
        quasi=audit.quasi,
        required_k=required_k,
        policy_k=policy_k,
        k=audit.k,
        classes=audit.classes,
        largest=spread.largest,
        average=spread.average,
        bands=tuple(bands_of(audit, required_k)),
        risk=RiskEntry.model_validate(audit.risk.to_dict()),
        by_rows=RowsEntry(k=audit.by_rows.k, classes=audit.by_rows.classes),
        sensitive=tuple(_worst_of(each) for each in audit.sensitive),
        unique=unique_band(unique_rows, audit.rows),
        models=tuple(_models_of(audit, whole=whole)),
        homogeneity=homogeneity,
        journalist=_journalist_of(audit),
        sizes=tuple(SizeEntry.model_validate(asdict(each)) for each in audit.sizes),
        unique_rows=unique_rows,
    )


def _models_of(audit: Audit, *, whole: bool) -> Iterator[ModelEntry]:
    """What was required and reached; `whole` says whether no row was left out."""
    for each in audit.models:
        model = each.model
        value = finite(settled(each.value))
        if value is None:
            raise CertificateError(f"certificate: {model.describe()} has no bound")
        # Next to the release, how far a class is from the source tells what else that holds.
        tells_others = model.is_compared and not whole
        yield ModelEntry(
            key=model.key,
            column=model.column,
            required=model.describe(),
            measure=model.measure,
            top=model.top,
            bound=float(model.bound),
            reached=None if tells_others else value,
            counted=value,
        )


def _worst_of(found: Sensitive) -> SensitiveEntry:
    """The worst class of a sensitive column, in every respect."""
    known = SensitiveEntry.model_fields
    stated = {name: value for name, value in found.stated().items() if name in known}
    return SensitiveEntry.model_validate({"column": found.column, **stated})


def _journalist_of(audit: Audit) -> JournalistEntry | None:
    """The risks within a population; None without one."""
    found, uniques = audit.journalist, audit.uniques
    if found is None:
        return None
    return JournalistEntry(
        **found.to_dict(),
        population=None if uniques is None else uniques.population_size,
        estimated_uniques=None if uniques is None else uniques.estimated,
    )


def bands_of(audit: Audit, required_k: int) -> Iterator[BandEntry]:
    """The bands that hold classes. Shares are in whole per cent: finer ones would show the
    size of a single class."""
    sizes = audit.sizes
    for least, most in band_ends(required_k):
        inside = [s for s in sizes if least <= s.size and (most is None or s.size <= most)]
        if inside:
            rows = sum(each.rows for each in inside)
            yield BandEntry(
                least=least,
                most=most,
                share=round(rows / audit.rows, 2),
                classes=sum(each.classes for each in inside),
                rows=rows,
            )


def unique_band(unique: int, rows: int) -> str:
    """Names the band of the share of rows that are unique over all released columns."""
    if not unique:
        return "none"
    share = unique / rows
    return next((words for end, words in UNIQUE_BANDS if share < end), "50 % or more")


def uneven_columns(
    subgroups: Sequence[SubgroupEntry], left_out: int, rows: int
) -> tuple[str, ...] | None:
    """The columns with a label that is hit by suppression, each once; None if not counted."""
    if left_out and not subgroups:
        return None
    hit = [each.column for each in subgroups if is_hit(each.left_out, each.rows, left_out, rows)]
    return tuple(dict.fromkeys(hit))
