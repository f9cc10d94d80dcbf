"""From facts to the internal form of a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sqlanon.certificate import document as doc
from sqlanon.certificate.facts import ColumnFact, Facts, SuppressionFact
from sqlanon.certificate.figures import bands_of, uneven_columns, unique_band
from sqlanon.certificate.models import homogeneity_of, journalist_of, models_of, worst_of
from sqlanon.certificate.words import words_of
from sqlanon.errors import CertificateError
from sqlanon.verify import Risk

_Section = TypeVar("_Section", bound=BaseModel)


def build(facts: Facts) -> doc.Internal:
    """The document of these facts; the same facts always give the same document."""
    try:
        draft = _draft(facts)
    except ValidationError as error:
        raise CertificateError(f"certificate: {described(error)}") from None
    return draft.model_copy(update={"words": words_of(draft)})


def described(error: ValidationError) -> str:
    """The first mistake, with the path of its key, and how many others there are."""
    first, *others = error.errors(include_url=False, include_context=False)
    path = ".".join(map(str, first["loc"])) or "the document"
    found = "" if first["type"] in ("missing", "extra_forbidden") else f", found {first['input']!r}"
    what = {"missing": "is missing", "extra_forbidden": "is not a key of this format"}
    message = what.get(first["type"], first["msg"][:1].lower() + first["msg"][1:])
    more = f" (and {len(others)} more)" if others else ""
    return f"{path}: {message}{found}{more}"


def _draft(facts: Facts) -> doc.Internal:
    audit = facts.audit
    return doc.Internal(
        format="sqlanon certificate",
        version=1,
        form="internal",
        release=doc.Release(
            id=facts.release,
            time=facts.time,
            mode=facts.mode,
            rows=audit.rows,
            people=audit.people,
            hash=facts.table_hash,
            target=facts.target,
        ),
        software=dict(facts.versions),
        policy=doc.Policy(fingerprint=facts.policy, origin=facts.policy_origin),
        scheme=doc.Scheme(fingerprint=facts.scheme),
        source=doc.Source(rows=facts.source_rows, people=facts.source_people, name=facts.source),
        columns=tuple(_column(each) for each in facts.columns),
        privacy=_privacy(facts),
        scores=_picked(doc.Scores, facts.scores),
        preference=None if facts.preference is None else _picked(doc.Preference, facts.preference),
        suppression=_suppression(facts.suppression, facts.source_rows),
        findings=tuple(
            doc.Finding(column=each.column, kind=str(each.kind), message=each.message)
            for each in facts.findings
        ),
        prior=tuple(
            doc.Prior(id=each.release, time=each.time, hash=each.hash, k=each.k)
            for each in facts.prior
        ),
        words=doc.Words(summary="", protection=(), notice=""),
        warnings=facts.warnings,
        sql=facts.sql,
    )


def _picked(section: type[_Section], values: Mapping[str, Any]) -> _Section:
    """A section from a mapping that may hold more."""
    known = {name: value for name, value in values.items() if name in section.model_fields}
    return section.model_validate(known)


def _column(fact: ColumnFact) -> doc.Column:
    return doc.Column(
        name=fact.name,
        role=str(fact.role),
        treatment=fact.treatment,
        released_as=fact.released_as,
        groups=fact.groups,
        values=fact.values,
        loss=fact.loss,
        stable=fact.stable,
        accepted=fact.accepted,
        groups_released=None if fact.released is None else fact.released.groups,
        largest_share=None if fact.released is None else fact.released.largest,
        labels=fact.labels,
    )


def _privacy(facts: Facts) -> doc.Privacy:
    audit = facts.audit
    spread = audit.spread
    return doc.Privacy(
        subject=facts.subject,
        quasi=audit.quasi,
        required_k=facts.required_k,
        policy_k=facts.policy_k,
        k=audit.k,
        classes=audit.classes,
        largest=spread.largest,
        average=spread.average,
        bands=tuple(bands_of(audit, facts.required_k)),
        risk=_risk(audit.risk),
        by_rows=doc.ByRows(k=audit.by_rows.k, classes=audit.by_rows.classes),
        sensitive=tuple(worst_of(each) for each in audit.sensitive),
        unique=unique_band(facts.unique_rows, audit.rows),
        models=tuple(models_of(facts)),
        homogeneity=homogeneity_of(facts),
        journalist=journalist_of(audit),
        sizes=tuple(
            doc.Size(size=each.size, classes=each.classes, rows=each.rows) for each in audit.sizes
        ),
        unique_rows=facts.unique_rows,
    )


def _risk(risk: Risk) -> doc.Risk:
    return doc.Risk(
        threshold=risk.threshold,
        highest=risk.highest,
        average=risk.average,
        above=risk.above,
        marketer=risk.marketer,
    )


def _suppression(fact: SuppressionFact, source_rows: int) -> doc.Suppression:
    counted = fact.subgroups or not fact.rows
    return doc.Suppression(
        rows=fact.rows,
        limit=fact.limit,
        marked=fact.marked,
        unseen=fact.unseen,
        uneven=uneven_columns(fact.subgroups, fact.rows, source_rows) if counted else None,
        subgroups=tuple(
            doc.Subgroup(
                column=each.column, label=each.label, rows=each.rows, left_out=each.left_out
            )
            for each in fact.subgroups
        ),
    )
