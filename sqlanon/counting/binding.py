"""Binds a policy to its table before anything is counted: columns, domains, hierarchies, models.

Stored schemes are read over the current values of the table.
"""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon import resources
from sqlanon.domain import (
    Column,
    Domain,
    Family,
    Generalized,
    Hierarchy,
    IntervalDomain,
    Partition,
    Run,
    Scheme,
    Space,
    Value,
    ValueDomain,
    Writing,
    format_value,
    from_document,
    listed_values,
    mentions_null,
    opens_ends,
    parse_value,
    partition_by_spans,
    read_document,
    read_result,
    sort_key,
    to_document,
    upgraded,
)
from sqlanon.domain.hierarchy_builders import dates, intervals, masked
from sqlanon.domain.hierarchy_files import read
from sqlanon.engines import ColumnInfo, Kind, Source, open_table
from sqlanon.errors import (
    DomainError,
    HierarchyError,
    NoSolutionError,
    PolicyError,
    ResourceError,
    SchemeError,
)
from sqlanon.metrics import Preference
from sqlanon.policy import ColumnSection, HierarchySection, Others, Policy, Role, line_at
from sqlanon.privacy import Model, SensitiveColumn, bound_models
from sqlanon.search import SearchResult, Solution

HierarchyBuilder = Callable[[Sequence[Value], Kind], Hierarchy]
"""Makes a hierarchy over the atoms of a column: their values, or left ends of intervals."""


@dataclass(frozen=True)
class Quasi:
    """One quasi-identifier: at most one of `values` and `range` is given.

    `values` lists the domain in order (None for NULL). `range` with `granularity` makes
    intervals. A finished hierarchy lists the domain itself; a builder works on the atoms of the
    column. `min_level` and `max_level` limit its levels; whether it has such levels is known
    when it is complete.
    """

    name: str
    family: Family = Family.CONTIGUOUS
    weight: float = 1.0
    values: tuple[object, ...] | None = None
    range: tuple[object, object] | None = None
    granularity: object = None
    hierarchy: Hierarchy | HierarchyBuilder | None = None
    min_level: int = 0
    max_level: int | None = None

    def declared_domain(self, kind: Kind) -> Domain | None:
        """The domain as far as it is known without the data."""
        try:
            return self._declared_domain(kind)
        except DomainError as error:
            if repr(self.name) in str(error):
                raise
            raise DomainError(f"column {self.name!r}: {error}") from None

    def _declared_domain(self, kind: Kind) -> Domain | None:
        if self.range is not None:
            low, high = (parse_value(end, kind) for end in self.range)
            return IntervalDomain.of_range(self.name, kind, low, high, self.granularity)
        if self.values is not None:
            listed = tuple(parse_value(v, kind) for v in self.values if v is not None)
            return ValueDomain(self.name, kind, listed, has_null=None in self.values)
        if isinstance(self.hierarchy, Hierarchy):
            return ValueDomain(self.name, kind, self.hierarchy.parsed(kind))
        return None

    def complete(self, domain: Domain) -> Column:
        """The column over its final domain, the atoms in the order of the hierarchy."""
        hierarchy = self.hierarchy
        if hierarchy is not None:
            if not isinstance(hierarchy, Hierarchy):
                hierarchy = hierarchy(domain.left_ends, domain.kind)
            domain = _ordered(domain, hierarchy)
        return Column(domain, hierarchy, self.family, self.weight, self.min_level, self.max_level)


def _ordered(domain: Domain, hierarchy: Hierarchy) -> Domain:
    """The domain in the order of the hierarchy's leaves, which must be its atoms."""
    where = f"column {domain.column!r}: the hierarchy {hierarchy.origin}"
    if isinstance(domain, IntervalDomain):
        names = tuple(domain.atom_label(i) for i in range(domain.width))
        ends = tuple(format_value(v) for v in domain.left_ends)
        # Labels write timestamps at midnight as dates; a file may have them in full.
        pairs = enumerate(pairwise(map(format_value, domain.edges)), 1)
        in_full = tuple(f"[{a}, {b}{']' if i == domain.width else ')'}" for i, (a, b) in pairs)
        if hierarchy.leaves not in (names, ends, in_full):
            raise HierarchyError(
                f"{where} does not list the intervals of the range in their order; "
                f"its leaves must be {names[0]}, {names[min(1, len(names) - 1)]}, …"
            )
        return domain
    leaves = hierarchy.parsed(domain.kind)
    known = {sort_key(v) for v in leaves}
    missing = [v for v in domain.values if sort_key(v) not in known]
    if missing:
        listed = ", ".join(repr(format_value(v)) for v in missing[:5])
        raise HierarchyError(f"{where} has no leaf for {listed}; add it, or leave `values` out")
    return ValueDomain(domain.column, domain.kind, leaves, domain.has_null, domain.is_observed)


def quasis_of(policy: Policy, source: Source) -> list[Quasi]:
    """The quasi-identifiers of a policy, with their hierarchies."""
    return [
        _quasi(policy, source, name, section)
        for name, section in policy.columns_with(Role.QUASI).items()
    ]


def _quasi(policy: Policy, source: Source, name: str, section: ColumnSection) -> Quasi:
    hierarchy = hierarchy_of(policy, source, name)
    default = Family.TAXONOMIC if hierarchy else Family.CONTIGUOUS
    return Quasi(
        name,
        family=section.family or default,
        weight=section.weight,
        values=None if section.values is None else tuple(section.values),
        range=section.range,
        granularity=section.granularity,
        hierarchy=hierarchy,
        min_level=section.min_level,
        max_level=section.max_level,
    )


def hierarchy_of(policy: Policy, source: Source, name: str) -> Hierarchy | HierarchyBuilder | None:
    """Reads the hierarchy of a column, or returns a builder for it over the column's values."""
    spec = policy.section.columns[name].hierarchy
    if spec is None:
        return None
    if isinstance(spec, str):
        try:
            return read(find_hierarchy(spec, policy.folder))
        except HierarchyError as error:
            where = line_at(("columns", name, "hierarchy"), "")
            raise HierarchyError(f"{policy.origin}: {where}{error}") from None
    if spec.table is not None:
        return _from_table(source, spec.table, source.column(name).kind)
    return partial(_built, name, _builder(spec))


def _builder(spec: HierarchySection) -> HierarchyBuilder:
    if spec.intervals is not None:
        return partial(_intervals, spec.intervals, spec.origin)
    if spec.mask is not None:
        return partial(_masked, spec.mask.character, spec.mask.side)
    assert spec.date is not None
    return partial(_dates, spec.date)


def _built(name: str, build: HierarchyBuilder, values: Sequence[Value], kind: Kind) -> Hierarchy:
    """Calls a builder; its errors name the column."""
    if not values:
        raise HierarchyError(f"column {name!r} holds nothing but NULL; leave its hierarchy out")
    try:
        return build(values, kind)
    except HierarchyError as error:
        raise HierarchyError(f"column {name!r}: {error}") from None


def find_hierarchy(name: str, folder: Path) -> Path:
    """Finds a hierarchy file in the policy's folder, else among the built-in ones."""
    own = folder / name
    if own.exists():
        return own
    try:
        return resources.path("hierarchies", *Path(name).parts)
    except ResourceError:
        return own  # reading it says that it is missing


def _from_table(source: Source, name: str, kind: Kind | None) -> Hierarchy:
    """Reads a table with one row per leaf and one column per level, in the order of its columns."""
    table = open_table(source.engine, name)
    levels = [
        exp.cast(exp.column(c.name, quoted=True), "text").as_(c.name, quoted=True)
        for c in table.columns
    ]
    fetched = source.engine.fetch(exp.select(*levels).from_(table.relation))
    rows = list(zip(*(c.to_pylist() for c in fetched.columns), strict=True))
    # Rows of a table have no order; sorted by value, neighbouring numbers form intervals.
    rows.sort(key=lambda row: _leaf_order(row[0], kind))
    return Hierarchy.from_rows(rows, f"table {name}")


def _leaf_order(leaf: str | None, kind: Kind | None) -> tuple[bool, object, str]:
    """Sorts leaves by value; leaves that are no value come last and are refused later, by name."""
    try:
        value = sort_key(parse_value(leaf, kind or Kind.TEXT))
    except DomainError:
        return (True, "", leaf or "")
    return (False, value, leaf or "")


def _intervals(
    widths: Sequence[int | float], origin: int | float, values: Sequence[Value], kind: Kind
) -> Hierarchy:
    return intervals(values, kind, widths, origin)


def _masked(character: str, side: str, values: Sequence[Value], kind: Kind) -> Hierarchy:
    texts = [format_value(v) for v in values]
    return masked(texts, character, "left" if side == "left" else "right")


def _dates(steps: Sequence[str], values: Sequence[Value], kind: Kind) -> Hierarchy:
    moments = [v for v in values if isinstance(v, dt.date)]
    if len(moments) < len(values):
        raise HierarchyError(f"a hierarchy of dates needs dates, these values are {kind}")
    return dates(moments, steps)


def check_columns(policy: Policy, source: Source) -> None:
    """Checks that every column of the policy exists and every column of the source has a role."""
    present = [c.name for c in source.columns]
    named = list(policy.section.columns)
    subject = policy.section.subject
    wanted = dict.fromkeys([*named, *([subject] if subject is not None else [])])
    problems = [
        f"column {name!r} is not in {source.name}{_meant(name, present)}"
        for name in wanted
        if name not in present
    ]
    silent = [name for name in present if name not in named and name != subject]
    if silent and policy.section.others is Others.REFUSE:
        listed = ", ".join(map(repr, silent))
        problems.append(
            f"{source.name} has columns that the policy does not mention: {listed}; give each a "
            "role, or say `others: drop` or `others: insensitive`"
        )
    if problems:
        raise misfit(policy.origin, problems)


def misfit(where: str, problems: Sequence[str]) -> PolicyError:
    """What is wrong between a policy and a table: one message, a line each where it is more."""
    if len(problems) == 1:
        return PolicyError(f"{where}: {problems[0]}")
    lines = "".join(f"\n  {problem}" for problem in problems)
    return PolicyError(f"{where}: {len(problems)} things do not fit the table{lines}")


def _meant(name: str, present: Sequence[str]) -> str:
    by_lower = {other.lower(): other for other in present}
    near = difflib.get_close_matches(name.lower(), by_lower, 1)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""


def models_of(policy: Policy, source: Source) -> tuple[Model, ...]:
    """The models that every class must satisfy beyond k, one per column."""
    privacy = policy.section.privacy
    if privacy is None:
        return ()
    columns = {}
    for name, section in policy.columns_with(Role.SENSITIVE).items():
        info = source.column(name)
        has_hierarchy = section.hierarchy is not None
        columns[name] = SensitiveColumn(name, info.kind, info.type, has_hierarchy)
    return tuple(
        bound_models(
            privacy.models, columns, lambda words: PolicyError(f"{policy.origin}: {words}")
        )
    )


def sensitive_hierarchies(policy: Policy, source: Source) -> dict[str, Hierarchy]:
    """The hierarchies of sensitive columns, by column."""
    return {
        name: hierarchy
        for name in policy.columns_with(Role.SENSITIVE)
        if isinstance(hierarchy := hierarchy_of(policy, source, name), Hierarchy)
    }


DEFAULT_PREFERENCE = Preference(loss=0.2, bias=1.0)
"""The papers' own point: little loss, any bias."""
NO_PREFERENCE = (
    f"the policy names no preference: ach is for nwp {DEFAULT_PREFERENCE.loss} and "
    f"necd {DEFAULT_PREFERENCE.bias}"
)


def generalized_of(
    policy: Policy,
    info: ColumnInfo,
    column: Column,
    partition: Partition,
    boxes: tuple[Run, ...] | None = None,
) -> Generalized:
    """A quasi-identifier as the policy releases it."""
    section = policy.section.columns[info.name]
    return Generalized(
        column,
        partition,
        info.type,
        output=section.output,
        open_ends=opens_ends(section.open_ends, column),
        null_label=section.null_label,
        form=section.form or policy.section.publish.form,
        boxes=boxes,
    )


def writings_of(policy: Policy) -> dict[str, Writing]:
    """How the policy writes each quasi-identifier."""
    return {
        name: Writing(section.output, section.open_ends, section.null_label)
        for name, section in policy.columns_with(Role.QUASI).items()
    }


SchemeLike = Scheme | Solution | SearchResult | Mapping[str, Any] | str | Path
"""A scheme, a solution, the chosen one of a result, a scheme's document, or a file's path."""


def scheme_in(scheme: SchemeLike) -> Scheme | None:
    """The scheme of an object that has one; None for documents and files."""
    if isinstance(scheme, SearchResult):
        if scheme.solution is None:
            some = any(each.feasible is not False for each in scheme.solutions)
            which = "one" if some else "one that falls short"
            raise NoSolutionError(f"{scheme.shortfall()} To use {which}, give it from `solutions`.")
        return scheme.solution.scheme
    if isinstance(scheme, Solution):
        return scheme.scheme
    return scheme if isinstance(scheme, Scheme) else None


def check_fit(policy: Policy, scheme: Scheme) -> None:
    """Refuses a scheme for other columns than those that the policy generalizes."""
    wanted = list(policy.columns_with(Role.QUASI))
    found = [column.name for column in scheme.columns]
    if set(found) != set(wanted):
        raise SchemeError(
            f"the scheme is for the columns {', '.join(map(repr, found))}, but {policy.origin} "
            f"generalizes {', '.join(map(repr, wanted)) or 'none'}; take a scheme of this policy"
        )


@contextmanager
def explaining_changes(policy: Policy, scheme: SchemeLike) -> Iterator[None]:
    """If a result does not fit, adds to the error what has changed in the policy since."""
    try:
        yield
    except SchemeError as error:
        changes = _changes(policy, scheme)
        if not changes:
            raise
        raise type(error)(f"{error}. {changes}") from None


def _changes(policy: Policy, scheme: SchemeLike) -> str:
    result = read_result(scheme) if isinstance(scheme, str | Path) else None
    if result is None or result.get("policy") in (None, policy.fingerprint):
        return ""
    found, parts = result.get("policy_parts"), policy.parts
    changed = []
    if isinstance(found, Mapping):
        names = dict.fromkeys([*parts, *map(str, found)])
        changed = [name for name in names if parts.get(name) != found.get(name)]
    where = f" in {', '.join(changed)}" if changed else ""
    return f"The policy has changed{where} since the search that wrote {scheme}; search again"


@dataclass(frozen=True)
class StoredScheme:
    """The document of a scheme, read under a policy; `origin` names it in messages."""

    policy: Policy
    source: Source
    document: Mapping[str, Any]
    origin: str

    @classmethod
    def read(cls, policy: Policy, source: Source, scheme: SchemeLike) -> StoredScheme:
        """Reads a scheme file, a solution of a result file, or takes a document as it is."""
        if isinstance(scheme, str | Path):
            return cls(policy, source, read_document(scheme), str(scheme))
        return cls(policy, source, upgraded(scheme), "scheme")

    def over(self, space: Space) -> Scheme:
        """The scheme over the current values, and over the listed ones if these differ.

        Raises SchemeError if a current value is in no group.
        """
        document, uncovered = self._moved(space)
        found = from_document(document, space.columns, self.origin)
        if uncovered is not None:
            raise SchemeError(f"{self.origin}: column {uncovered!r}: a value is in no group")
        given = self.as_listed(space)
        return found if given.columns == found.columns else replace(found, given=given)

    def _moved(self, space: Space) -> tuple[Any, str | None]:
        """The document with its decades and intervals over the current values.

        A decade stays the same when other birthdays occur, but the cut where it begins moves to
        another birthday. Also returns a column with a value in no group, if any.
        """
        now = {c.name: c for c in space.columns if c.hierarchy and c.hierarchy.extent}
        entries, uncovered = self.document["columns"], None
        changed = dict(entries)
        for name, quasi in self._quasis.items():
            if name not in now or name not in entries or self._listed(name) is None:
                continue
            domain = self._domain(quasi, now[name].domain.kind)
            if domain is None or domain == now[name].domain:
                continue
            old = quasi.complete(domain)
            entry = {"columns": {name: entries[name]}}
            (partition,) = from_document(entry, [old], self.origin).partitions
            info = self.source.column(name)
            spans = generalized_of(self.policy, info, old, partition).spans
            if spans is None:
                continue
            moved = partition_by_spans(old, partition, now[name], spans)
            if moved is None:
                uncovered = name
            else:
                changed |= to_document(Scheme((now[name],), (moved,)))["columns"]
        return {**self.document, "columns": changed}, uncovered

    def as_listed(self, space: Space) -> Scheme:
        """The scheme over the values that the document lists, else over the current ones.

        Groups keep the labels that they had when they were found: the thirties do not become a
        single birthday because all others are gone.
        """
        columns = []
        for column in space.columns:
            quasi, domain = self._quasis[column.name], None
            if self._listed(column.name) is not None:
                domain = self._domain(quasi, column.domain.kind)
            columns.append(column if domain is None else quasi.complete(domain))
        return from_document(self.document, columns, self.origin)

    def without_counting(self) -> Scheme | None:
        """The scheme over the domains it was made for, without counting the source.

        It lacks values that are new since then. None if neither the policy nor the document
        lists the domain of a column.
        """
        columns = []
        for quasi in self._quasis.values():
            domain = self._domain(quasi, self._kind(quasi.name))
            if domain is None:
                return None
            columns.append(quasi.complete(domain))
        return from_document(self.document, columns, self.origin)

    @cached_property
    def _quasis(self) -> dict[str, Quasi]:
        return {quasi.name: quasi for quasi in quasis_of(self.policy, self.source)}

    def _listed(self, name: str) -> list[Any] | None:
        return listed_values(self.document, name, self.origin)

    def _kind(self, name: str) -> Kind:
        info = self.source.column(name)
        if info.kind is None:
            raise PolicyError(
                f"column {name!r} has the type {info.type}, which cannot be generalized; cast it "
                "in a query, or give it another role"
            )
        return info.kind

    def _domain(self, quasi: Quasi, kind: Kind) -> Domain | None:
        """The domain that the policy declares, else that of the values which are listed."""
        domain = quasi.declared_domain(kind)
        if domain is None:
            listed = self._listed(quasi.name)
            if listed is None:
                return None
            domain = replace(quasi, values=tuple(listed)).declared_domain(kind)
            assert isinstance(domain, ValueDomain)
            return replace(domain, is_observed=True)
        if mentions_null(self.document, quasi.name) and not domain.has_null:
            return replace(domain, has_null=True)
        return domain
