"""What a publish would refuse or show, found without publishing: types, values, marked rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlanon.audit import audit, column_findings, reference_of
from sqlanon.counting import StoredScheme, misfit
from sqlanon.domain import (
    NOT_IN_SCHEME,
    WHOLE,
    Column,
    Generalized,
    Partition,
    Scheme,
    Space,
    ValueDomain,
)
from sqlanon.engines import Kind, Source, open_source
from sqlanon.errors import (
    SchemeError,
    UncoveredValueError,
)
from sqlanon.policy import Policy, Role
from sqlanon.release.compile import compile_release, compile_uncovered
from sqlanon.release.export import unheld_types
from sqlanon.release.generalize import check_labels
from sqlanon.release.order import (
    Item,
    Order,
    Pseudonym,
    Verbatim,
    homogeneity_problem,
    item_of,
    order_of,
)
from sqlanon.release.plan import released_before
from sqlanon.release.stage import generalized_population
from sqlanon.wording import counted

WHOLE_UP_TO = 200_000
"""Rows of a source that is looked at as a whole; of a larger one, a part of the values is."""
ONE_IN = 16
"""Which part: the values whose hash begins with one of 16 digits. A value is looked at with all
its rows, so values and rows keep their proportion, which they would not in a part of the rows."""


def check_types(policy: Policy, source: Source) -> None:
    """Refuses columns that the release keeps as they are and its file cannot hold."""
    file = policy.section.publish.file
    if file is None or source.histogram is not None:
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
    check_labels(order_of(policy, source, finest))


def cautions(policy: Policy, source: Source, rows: int) -> Iterator[str]:
    """What publish refuses whatever scheme a search finds, and what to do about it.

    That is columns that are released as they are and may name people, and sensitive columns
    that no model is for. `rows` are those of the source.
    """
    problem = homogeneity_problem(policy)
    if problem is not None:
        yield f"publish will refuse this: {problem}"
    if already := released_before(policy, source).strip():
        yield already
    if source.histogram is None:
        yield from _column_cautions(policy, source, rows)
    else:
        yield (
            f"{source.name} holds the values of people: keep it private, and remove it with "
            "`sqlanon clean` once it is of no more use; what columns that are released as they "
            "are give away cannot be seen in it"
        )


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
        found = column_findings(part, names, subject=subject, pseudonyms=pseudonyms)
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
        value: exp.Expr = exp.column(name, quoted=True)
        if is_part and name != subject:
            hashed = exp.MD5(this=exp.cast(value.copy(), "text"))
            digit = exp.Left(this=hashed, expression=exp.Literal.number(1))
            is_read = exp.EQ(this=digit, expression=exp.Literal.string("0"))
            value = exp.Case(ifs=[exp.If(this=is_read, true=value)])
        outputs.append(value.as_(name, quoted=True))
    if subject is not None and subject not in names:
        outputs.append(exp.column(subject, quoted=True))
    return exp.select(*outputs).from_(source.relation.copy())


def holds_with_marked(policy: Policy, source: Source, scheme: Scheme) -> bool:
    """Whether k and every model hold in a release that marks rows, the marked ones being a class.

    The release is counted as its verification counts it, without being made.
    """
    recipe = order_of(policy, source, scheme)
    items = tuple(item for item in recipe.items if _is_read(item, source))
    compiled = compile_release(replace(recipe, items=items), keep_subject=True)
    compiled.select.set("order", None)
    audited = audit(
        Source.of(source.engine, compiled.select.subquery("release"), "the release"),
        recipe.class_names,
        subject=compiled.subject,
        models=recipe.models,
        hierarchies=recipe.hierarchies,
        reference={
            each.name: reference_of(source, each.name, recipe.subject) for each in recipe.sensitive
        },
        population=generalized_population(source.engine, recipe),
    )
    return audited.k >= recipe.k and all(each.holds for each in audited.models)


def _is_read(item: Item, source: Source) -> bool:
    """Whether a column can be read without keys; a histogram has only what is counted."""
    if isinstance(item, Pseudonym):
        return False
    return source.histogram is None or source.column(item.name).kind is not None


def refuse_uncovered(policy: Policy, source: Source, stored: StoredScheme) -> None:
    """Raises UncoveredValueError where rows hold values that a stored scheme does not cover.

    Does nothing where the document is wrong by itself, or does not list its values.
    """
    try:
        scheme = stored.without_counting()
    except SchemeError:
        return
    if scheme is None:
        return
    partitions = scheme.by_name
    items = [item_of(policy, info, partitions.get(info.name)) for info in source.columns]
    generalized = tuple(_by_value(item) for item in items if isinstance(item, Generalized))
    recipe = Order(source.relation, generalized, k=1, tree=scheme.cut_tree)
    _, _, *unseen = source.engine.fetch(compile_release(recipe).counts).columns
    counts = [column[0].as_py() for column in unseen]
    found = [(item.name, n) for item, n in zip(recipe.generalized, counts, strict=True) if n]
    if found:
        listed = ", ".join(f"{name!r} in {counted(count, 'row')}" for name, count in found)
        raise UncoveredValueError(
            f"The source holds values that the scheme in {stored.origin} does not cover: "
            f"{listed}. Search again for a scheme of these data, or leave such rows out with a "
            "query",
            {
                name: source.engine.fetch(compile_uncovered(recipe, name))["value"].to_pylist()
                for name, _ in found
            },
        )


def _by_value(item: Generalized) -> Generalized:
    """A column whose one group takes any value, so that its own values count here.

    New values make its domain larger, and with it what the scheme loses.
    """
    domain = item.column.domain
    if not item.takes_all or not isinstance(domain, ValueDomain) or item.by_intervals:
        return item
    finest = Partition(domain.size, tuple(range(domain.size - 1)))
    return Generalized(Column(domain), finest, item.type, form=item.form)
