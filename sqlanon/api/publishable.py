"""What publish would refuse, found before a search."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.api.bind import misfit
from sqlanon.api.homogeneity import homogeneity_problem
from sqlanon.api.release import item_of, recipe_of
from sqlanon.compile import NOT_IN_SCHEME, Pseudonym, Verbatim, check_labels
from sqlanon.engines import Source, open_source
from sqlanon.histogram.atoms import column
from sqlanon.model import Kind
from sqlanon.policy import Policy, Role
from sqlanon.publish.export import unheld_types
from sqlanon.scheme import Scheme, Space
from sqlanon.scheme.labels import WHOLE
from sqlanon.verify import column_findings

WHOLE_UP_TO = 200_000
"""Rows of a source that is looked at as a whole; of a larger one, a part of the values is."""
ONE_IN = 16
"""Which part: the values whose hash begins with one of 16 digits. A value is looked at with all
its rows, so values and rows keep their proportion, which they would not in a part of the rows."""


def check_types(policy: Policy, source: Source) -> None:
    """Refuses columns that the release keeps as they are and its file cannot hold."""
    file = policy.section.publish.file
    if file is None:
        return
    kept = [each for each in _ungeneralized(policy, source) if isinstance(each, Verbatim)]
    lost = unheld_types(policy.folder / file, [(each.name, each.type) for each in kept])
    if lost is not None:
        raise misfit(policy.origin, [f"publish.file: {lost}"])


def check_values(policy: Policy, source: Source, space: Space) -> None:
    """Refuses values of quasi-identifiers that a release could not tell from its own labels.

    Only a value in a group of its own is written as it is, and the finest scheme has it there.
    """
    if policy.section.privacy is None:
        return
    reserved = {NOT_IN_SCHEME, WHOLE, policy.section.suppression.marker}
    reserved |= {c.hierarchy.levels[-1][0] for c in space.columns if c.hierarchy is not None}
    texts = [c.domain.left_ends for c in space.columns if c.domain.kind is Kind.TEXT]
    if all(map(reserved.isdisjoint, texts)):  # the usual case, without writing all labels
        return
    finest = Scheme(space.columns, tuple(each.finest for each in space.columns))
    check_labels(recipe_of(policy, source, finest))


def cautions(policy: Policy, source: Source, rows: int) -> Iterator[str]:
    """What publish refuses whatever scheme a search finds, and what to do about it.

    That is columns that are released as they are and may name people, and sensitive columns
    that no model is for. `rows` are those of the source.
    """
    problem = homogeneity_problem(policy)
    if problem is not None:
        yield f"publish will refuse this: {problem}"
    yield from _column_cautions(policy, source, rows)


def _column_cautions(policy: Policy, source: Source, rows: int) -> Iterator[str]:
    sections, subject = policy.section.columns, policy.section.subject
    names = [
        item.name
        for item in _ungeneralized(policy, source)
        if source.column(item.name).kind is not None
        and not (item.name in sections and sections[item.name].accept)
    ]
    if not names:
        return
    pseudonyms = {
        name: section.stable
        for name, section in policy.columns_with(Role.PSEUDONYM).items()
        if name in names
    }
    is_part = rows > WHOLE_UP_TO
    # One query, because every query on a CSV file reads the whole of it.
    part = open_source(data=source.engine.fetch(_read(source, names, subject, is_part)))
    try:
        found = column_findings(
            part.engine, part.relation, names, subject=subject, pseudonyms=pseudonyms
        )
    finally:
        part.engine.close()
    counted_on = f" (counted on one in {ONE_IN} of its values)" if is_part else ""
    for name, findings in found.items():
        for finding in findings:
            refusal = finding.refusal(is_pseudonym=name in pseudonyms)
            yield f"publish will refuse this: {refusal}{counted_on}"


def _ungeneralized(policy: Policy, source: Source) -> list[Verbatim | Pseudonym]:
    """The columns that a release has besides the quasi-identifiers."""
    quasi = policy.columns_with(Role.QUASI)
    items = [item_of(policy, info, None) for info in source.columns if info.name not in quasi]
    return [item for item in items if isinstance(item, Verbatim | Pseudonym)]


def _read(source: Source, names: list[str], subject: str | None, is_part: bool) -> exp.Select:
    """The columns and the subject; where only a part of the values is read, the rest is NULL."""
    outputs: list[exp.Expr] = []
    for name in names:
        value: exp.Expr = column(name)
        if is_part and name != subject:
            hashed = exp.MD5(this=exp.cast(column(name), "text"))
            digit = exp.Left(this=hashed, expression=exp.Literal.number(1))
            is_read = exp.EQ(this=digit, expression=exp.Literal.string("0"))
            value = exp.Case(ifs=[exp.If(this=is_read, true=value)])
        outputs.append(value.as_(name, quoted=True))
    if subject is not None and subject not in names:
        outputs.append(column(subject))
    return exp.select(*outputs).from_(source.relation.copy())
