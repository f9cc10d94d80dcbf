"""What is released, what must hold, and where it goes: a policy and a scheme as an order."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.counting import (
    generalized_of,
    models_of,
    population_source,
    sensitive_hierarchies,
)
from sqlanon.domain import (
    CutTree,
    Generalized,
    Hierarchy,
    Labels,
    Mode,
    RowOrder,
    Scheme,
    SuppressedRows,
    Unseen,
)
from sqlanon.engines import ColumnInfo, Kind, Source, as_given
from sqlanon.errors import CompileError, PolicyError, PublishError, VerificationError
from sqlanon.metrics import Preference
from sqlanon.policy import Others, Policy, Role
from sqlanon.privacy import Model
from sqlanon.search import labels_of


@dataclass(frozen=True)
class Verbatim:
    """A column that is released as it is.

    Values that are not `ordered`, such as those of JSON, are sorted by their texts.
    """

    name: str
    type: str
    ordered: bool = True

    @property
    def released_names(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True)
class Pseudonym:
    """A column released as a keyed hash; `key` names the parameter that holds the key."""

    name: str
    key: str

    @property
    def released_names(self) -> tuple[str, ...]:
        return (self.name,)


Item = Generalized | Verbatim | Pseudonym


@dataclass(frozen=True)
class MeasuredColumn:
    """A column that privacy models measure, whether it is released or not."""

    name: str
    type: str
    kind: Kind


@dataclass(frozen=True)
class Order:
    """A release: which columns, in the source's order, what every class must have, and where to.

    k            the least number of people in a class
    suppress     whether rows of classes that fall short of k or of a model are left out, or
                 marked where `marker` is given; if not, no row is left out and the verification
                 refuses such a class
    subject      the column that names the person a row is about; None counts rows
    header       lines for the comment above the SQL
    models       what every class must satisfy beyond k
    sensitive    the columns that the models are for
    hierarchies  of sensitive columns, for the hierarchical distance
    population   for k-map: a relation with the quasi-identifiers of the source under the same
                 names; rows whose values belong to no group do not count
    population_subject  the column that names the person a row of it is about; None counts rows
    limit        the share of the source's rows that may be suppressed
    accepted     released columns that are not generalized (verbatim and pseudonyms), with the
                 reason why what is found in them is accepted, or None
    pseudonyms   the pseudonyms among them, with whether they are the same in every release
    audited      the sensitive columns whose values the audit counts
    uncovered    those of them that no model is for
    homogeneity  why these are accepted; None refuses the release
    mode         a new table (or file), a new content of the source's table, or a view
    target       the table or view to make; None for a file and for mode replace
    file         a .csv or .parquet file instead of a table
    keys         the keys of pseudonyms by the names of their parameters; they are handed to the
                 database as parameters, so no text that is run, logged or raised holds them
    name         what people call the source
    columns      those of the source; none where it is still to be described
    roles        of these columns, by name
    policy       where all this comes from: the fingerprint of the policy and of the scheme, the
    scheme       policy's file or None, its k where this release was made for a higher one
    policy_origin
    policy_k
    preference   the policy's, if it is by NWP and NECD: others are not recounted on the release
    label        the column that is released to be predicted
    standard     whether its SQL keeps to what every database has; without it values find their
                 intervals by ASOF joins, and equal rows are counted, sorted once and repeated,
                 which yields the same rows
    loaded       the tables that hold the lists of columns, by column, where a list is too long
                 for the text of a statement
    tree         the cut tree that generalizes the columns whose items have runs
    labels       what is released of its regions; None without a tree
    tight        why tight labels are accepted; None where labels are others
    connection   how the released rows are read later: an address, or the connection of the
                 caller; None where only this engine has them
    """

    source: exp.Expr
    items: tuple[Item, ...]
    k: int
    suppress: bool = False
    marker: str | None = None
    subject: str | None = None
    unseen: Unseen = Unseen.ERROR
    row_order: RowOrder = RowOrder.SORTED
    header: tuple[str, ...] = ()
    models: tuple[Model, ...] = ()
    sensitive: tuple[MeasuredColumn, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: exp.Expr | None = None
    population_subject: str | None = None
    limit: float = 0.0
    accepted: Mapping[str, str | None] = field(default_factory=dict)
    pseudonyms: Mapping[str, bool] = field(default_factory=dict)
    audited: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    homogeneity: str | None = None
    mode: Mode = Mode.TABLE
    target: exp.Table | None = None
    file: Path | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    name: str = "the source"
    columns: tuple[ColumnInfo, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    policy: str = ""
    scheme: str = ""
    policy_origin: str | None = None
    policy_k: int | None = None
    preference: Preference | None = None
    label: str | None = None
    standard: bool = False
    loaded: Mapping[str, exp.Table] = field(default_factory=dict)
    tree: CutTree | None = None
    labels: Labels | None = None
    tight: str | None = None
    connection: Any = None

    def __post_init__(self) -> None:
        counts = Counter(name.lower() for name in self.released_names)
        for name, count in counts.items():
            if count > 1:
                raise CompileError(
                    f"the release would have two columns {name!r}; leave the other one out, or "
                    "choose another output than bounds"
                )

    @cached_property
    def generalized(self) -> tuple[Generalized, ...]:
        return tuple(item for item in self.items if isinstance(item, Generalized))

    @cached_property
    def released_names(self) -> tuple[str, ...]:
        return tuple(name for item in self.items for name in item.released_names)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The released columns whose equal values make a class."""
        return tuple(name for item in self.generalized for name in item.released_names)

    @property
    def counts_population(self) -> bool:
        """Whether the SELECT reads the population; otherwise only risks are computed from it."""
        return any(model.needs_population for model in self.models)

    @property
    def measured(self) -> tuple[MeasuredColumn, ...]:
        """The sensitive columns of the models, each once, in the order of the models."""
        known = {column.name: column for column in self.sensitive}
        names = dict.fromkeys(m.column for m in self.models if m.column is not None)
        for name in names:
            if name not in known:
                raise CompileError(f"a privacy model is for {name!r}, which is no sensitive column")
        return tuple(known[name] for name in names)

    def stem(self, default_schema: str) -> str:
        """What the certificate's files begin with: no two releases of a folder share it."""
        if self.file is not None:
            return self.file.name
        table = self.target or self.source
        schema = table.text("db")
        return stem_of(table.name if schema in ("", default_schema) else f"{schema}.{table.name}")

    @cached_property
    def keyed(self) -> tuple[Pseudonym, ...]:
        """The pseudonyms, whose keys the SQL has as parameters."""
        return tuple(item for item in self.items if isinstance(item, Pseudonym))

    @property
    def used_keys(self) -> dict[str, str]:
        """The keys that the SQL asks for, in that order; a database refuses others."""
        return {item.key: self.keys[item.key] for item in self.keyed if item.key in self.keys}


LONGEST_STEM = 200
"""Bytes of a table's name in the names of its certificate's files."""


def stem_of(name: str) -> str:
    """What the files of a table's certificate begin with; other names, other stems."""
    stem = re.sub(r"[^\w.-]+", "_", name)
    if stem == name and len(stem.encode()) <= LONGEST_STEM:
        return stem
    start = stem.encode()[:LONGEST_STEM].decode(errors="ignore")
    return f"{start}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def refuse_impossible(order: Order) -> None:
    """Refuses an order that a policy can ask for and no database can fill."""
    if order.mode is Mode.VIEW and order.keyed:
        raise PublishError(
            "a view has no place for the key of pseudonyms: everyone who reads its "
            "definition would see it; take mode table"
        )
    try:
        if order.file is not None:
            order.file.resolve()
    except (OSError, RuntimeError):
        raise PublishError(
            f"file {order.file} is a link that leads to no place; remove it, or take another name"
        ) from None


def k_of_release(policy: Policy, scheme: Scheme) -> int:
    """The k that a release of a scheme needs: the policy's, or more if it was found for more."""
    privacy = policy.section.privacy
    return max(1 if privacy is None else privacy.k, scheme.required_k or 1)


def refuse_smaller_k(policy: Policy, scheme: Scheme) -> None:
    """Refuses a scheme that was found for a smaller k than the policy requires."""
    privacy, found_for = policy.section.privacy, scheme.required_k
    if privacy is not None and found_for is not None and found_for < privacy.k:
        raise VerificationError(
            f"the scheme was found for k = {found_for}, and {policy.origin} requires {privacy.k}; "
            "take a solution that is feasible"
        )


def header_of(order: Order, k: int | None, *, guarded: bool = False) -> list[str]:
    """The comment above a release, without k if it was not measured.

    `guarded` as for `compile_release`.
    """
    reached = "not measured: the source holds values that are new to the scheme"
    return [
        f"release of {order.name}, written by sqlanon {version('sqlanon')}",
        f"policy {order.policy[:16]}, scheme {order.scheme[:16]}",
        f"k = {reached if k is None else k}, required {order.k}",
        *(f"required of every class: {each.describe()}" for each in order.models),
        _suppression(order, guarded),
    ]


def _suppression(order: Order, guarded: bool) -> str:
    """What the SQL does with classes that fall short."""
    unit = "rows" if order.subject is None else "people"
    models = " and those that violate a model" if order.models else ""
    short = f"classes of fewer than {order.k} {unit}{models}"
    if guarded:
        return f"leaves out {short}, whenever the view is read"
    if not order.suppress:
        return f"suppresses no class: publish refuses {short}"
    if order.marker is None:
        return f"leaves out {short}"
    return f"marks the rows of {short} with {order.marker!r}"


def falls_short(policy: Policy) -> list[str]:
    """What the comment says further of a scheme that is not feasible."""
    said = ["the scheme falls short of the policy: publish refuses it"]
    suppression = policy.section.suppression
    if suppression.limit and suppression.rows is SuppressedRows.LEAVE_OUT:
        said.append("classes that fall short are left out all the same, beyond the limit")
    return said


def portable_source(
    source: Source, dialect: str, beside: exp.Expr | None = None
) -> tuple[Source, list[str]]:
    """The source as another database can read it, and what the header says about that.

    Only this process's engine can read its files and data; for other databases a table takes
    their place. Its name differs from those that a relation `beside` it reads.
    """
    relation = source.relation
    is_file = isinstance(relation, exp.Table) and not isinstance(relation.this, exp.Identifier)
    is_data = isinstance(relation, exp.Table) and source.engine.is_temporary(relation)
    if dialect == source.engine.dialect or not (is_file or is_data):
        return source, []
    name = Path(source.name).name.split(".")[0] if is_file else "source"
    taken = {each.name.lower() for each in beside.find_all(exp.Table)} if beside else set()
    while name.lower() in taken:
        name += "_population"
    note = f"reads a table {name!r}; copy {source.name} into it, with the same columns and types"
    return replace(source, relation=exp.table_(name, quoted=True)), [note]


def _refuse_no_privacy(policy: Policy) -> None:
    """Refuses a release of a policy that requires nothing."""
    if policy.section.privacy is None:
        raise PolicyError(
            f"{policy.origin}: privacy: is missing; say what every class of a release must have, "
            "such as `privacy: {k: 5}`"
        )


def refuse_with_tree(policy: Policy) -> None:
    """Refuses what a release by the regions of a cut tree does not support."""
    publish = policy.section.publish
    refused = {
        "publish.mode: view": publish.mode is Mode.VIEW,
        "publish.unseen: top": publish.unseen is Unseen.TOP,
        "population": policy.section.population is not None,
    }
    for key, is_there in refused.items():
        if is_there:
            raise CompileError(
                f"{policy.origin}: {key} does not go with multidimensional recoding; leave it out, "
                "or take a scheme with one partition per column"
            )


def order_of(policy: Policy, source: Source, scheme: Scheme, dialect: str | None = None) -> Order:
    """What the policy says a release of this scheme consists of.

    For another dialect than that of its engine a population in a file is read from a table, and
    the header says so.
    """
    section = policy.section
    _refuse_no_privacy(policy)
    suppression = section.suppression
    marked = suppression.limit > 0 and suppression.rows is SuppressedRows.MARK
    partitions = scheme.by_name
    items = [item_of(policy, info, partitions.get(info.name)) for info in source.columns]
    models = models_of(policy, source)
    labels = None if scheme.tree is None else labels_of(scheme)
    if scheme.tree is not None:
        refuse_with_tree(policy)
    if labels is Labels.TIGHT and section.search.accept is None:
        raise CompileError(
            f"{policy.origin}: the scheme has tight labels, whose ends are values of single "
            "people; say in the policy why that is accepted, with `labels: tight` and "
            '`accept: "reason"` under search, or search for region or snapped labels'
        )
    population, notes = None, list[str]()
    if any(model.needs_population for model in models):
        population = population_source(policy, source)
        assert population is not None  # a policy with k_map has one
        dialect = dialect or source.engine.dialect
        population, notes = portable_source(population, dialect, source.relation)
    return Order(
        source=source.relation,
        items=tuple(item for item in items if item is not None),
        k=k_of_release(policy, scheme),
        suppress=suppression.limit > 0,
        marker=suppression.marker if marked else None,
        subject=section.subject,
        unseen=section.publish.unseen,
        row_order=section.publish.order,
        header=tuple(notes),
        models=models,
        sensitive=_sensitive(models, source),
        hierarchies=sensitive_hierarchies(policy, source),
        population=None if population is None else population.relation,
        population_subject=section.population.subject if section.population else None,
        name=source.name,
        policy=policy.fingerprint,
        scheme=scheme.fingerprint,
        standard=not source.engine.can.asof_join,
        tree=scheme.cut_tree,
        labels=labels,
        tight=section.search.accept if labels is Labels.TIGHT else None,
    )


def shown(order: Order) -> Order:
    """An order whose SQL is read by people: tables have the names that the policy gives them."""
    population = None if order.population is None else as_given(order.population)
    return replace(order, source=as_given(order.source), population=population)


def order_to_publish(
    policy: Policy,
    source: Source,
    scheme: Scheme,
    target: exp.Table | None,
    connection: Any = None,
) -> Order:
    """The order with its place; a population is always in it, since it also shows risks."""
    order = order_of(policy, source, scheme)
    population = order.population
    if population is None and (found := population_source(policy, source)) is not None:
        population = found.relation
    section = policy.section
    quasi = set(order.class_names)
    reasons = {name: column.accept for name, column in section.columns.items()}
    return replace(
        order,
        population=population,
        limit=section.suppression.limit,
        accepted={n: reasons.get(n) for n in order.released_names if n not in quasi},
        pseudonyms={n: c.stable for n, c in policy.columns_with(Role.PSEUDONYM).items()},
        audited=tuple(policy.columns_with(Role.SENSITIVE)),
        uncovered=section.uncovered_sensitive(accepted=False),
        homogeneity=accepted_homogeneity(policy),
        mode=section.publish.mode,
        target=target,
        file=None if section.publish.file is None else policy.folder / section.publish.file,
        keys=_keys(policy),
        columns=source.columns,
        roles={info.name: _role(policy, info.name) for info in source.columns},
        policy_origin=policy.origin,
        policy_k=_policy_k(policy, order.k),
        preference=_preference(policy),
        label=policy.label,
        connection=connection,
    )


def _role(policy: Policy, name: str) -> str:
    section = policy.section.columns.get(name)
    if section is None:
        return "subject" if name == policy.section.subject else "not named"
    return str(section.role)


def _policy_k(policy: Policy, k: int) -> int | None:
    privacy = policy.section.privacy
    return None if privacy is None or privacy.k == k else privacy.k


def _preference(policy: Policy) -> Preference | None:
    section = policy.section.preference
    wish = None if section is None else section.point
    papers = wish is not None and (wish.loss_by, wish.bias_by) == ("nwp", "necd")
    return wish if papers else None


def _keys(policy: Policy) -> dict[str, str]:
    """The keys of pseudonyms: the policy's where they are stable, else new ones, never kept."""
    return {
        key_parameter(policy, name): policy.key_of(name) or secrets.token_hex(32)
        for name in policy.columns_with(Role.PSEUDONYM)
    }


def _sensitive(models: Sequence[Model], source: Source) -> tuple[MeasuredColumn, ...]:
    """The sensitive columns of the models, with their types."""
    found = []
    for name in dict.fromkeys(model.column for model in models if model.column is not None):
        info = source.column(name)
        if info.kind is None:
            raise PolicyError(
                f"column {name!r} has type {info.type}, whose values no privacy model can tell "
                "apart; cast it to text or a number in the source query"
            )
        found.append(MeasuredColumn(name, info.type, info.kind))
    return tuple(found)


def item_of(policy: Policy, info: ColumnInfo, generalized: Any) -> Item | None:
    """One column of the source as the release has it; None where it does not."""
    section = policy.section.columns.get(info.name)
    if section is None:
        # The subject need not be listed; it tells people apart, so it never goes out as it is.
        is_subject = info.name == policy.section.subject
        kept = policy.section.others is Others.INSENSITIVE and not is_subject
        return Verbatim(info.name, info.type, info.kind is not None) if kept else None
    if section.role is Role.IDENTIFYING:
        return None
    if section.role is Role.PSEUDONYM:
        return Pseudonym(info.name, key_parameter(policy, info.name))
    if section.role is not Role.QUASI:
        return Verbatim(info.name, info.type, info.kind is not None)
    return generalized_of(policy, info, *generalized)


def key_parameter(policy: Policy, column: str) -> str:
    """The name of the parameter that holds the key of a column's pseudonyms."""
    number = list(policy.columns_with(Role.PSEUDONYM)).index(column) + 1
    return f"sqlanon_key_{number}"


def accepted_homogeneity(policy: Policy) -> str | None:
    """The reason given for sensitive columns without a model; None unless it covers all of them."""
    accepted = None if policy.section.privacy is None else policy.section.privacy.homogeneity
    if accepted is None or policy.section.uncovered_sensitive():
        return None
    return accepted.accept


def homogeneity_problem(policy: Policy) -> str | None:
    """Names the sensitive columns that neither a model nor a reason is for, if there are any."""
    columns = policy.section.uncovered_sensitive()
    if not columns:
        return None
    several = len(columns) > 1
    listed = ", ".join(map(repr, columns))
    return (
        f"no model covers the sensitive column{'s' * several} {listed}, so all people of a class "
        "may share one value; add a model to `privacy`, such as `l_diversity: {l: 2}`, or say "
        'there with `homogeneity: {accept: "reason"}` why that is accepted'
    )


def refuse_homogeneity(policy: Policy) -> None:
    """Refuses to publish sensitive columns that neither a model nor a reason is for."""
    _refuse_no_privacy(policy)
    if problem := homogeneity_problem(policy):
        raise PolicyError(f"{policy.origin}: privacy: {problem}")
