"""From a policy and a scheme to the recipe of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.api.models import models_of, sensitive_hierarchies
from sqlanon.api.population import population_source
from sqlanon.api.result import SearchResult
from sqlanon.api.solution import Solution
from sqlanon.api.writing import opens_ends
from sqlanon.compile import Generalized, Item, Pseudonym, Recipe, Sensitive, Verbatim
from sqlanon.engines import ColumnInfo, Source, as_given
from sqlanon.errors import NoSolutionError, PolicyError, SchemeError, VerificationError
from sqlanon.model import SuppressedRows
from sqlanon.policy import Others, Policy, Role
from sqlanon.privacy import KMap, Model
from sqlanon.scheme import Scheme
from sqlanon.scheme.references import read_document

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


def document_of(scheme: SchemeLike) -> tuple[Any, str]:
    """The document that describes a scheme, and what to call it in messages."""
    if isinstance(scheme, str | Path):
        return read_document(scheme), str(scheme)
    return scheme, "scheme"


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


def header_of(policy: Policy, source: Source, scheme: Scheme, k: int | None) -> list[str]:
    """What the comment above a release says."""
    required = k_of_release(policy, scheme) if policy.section.privacy else None
    reached = "not measured: the source holds values that are new to the scheme"
    return [
        f"release of {source.name}, written by sqlanon {version('sqlanon')}",
        f"policy {policy.fingerprint[:16]}, scheme {scheme.fingerprint[:16]}",
        f"k = {reached if k is None else k}, required {required}",
        *(f"required of every class: {each.describe()}" for each in models_of(policy, source)),
    ]


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

    Files and data of this process are read by means of DuckDB's own; elsewhere a table takes
    their place. Its name is none of those that a relation `beside` it reads.
    """
    relation = source.relation
    is_file = isinstance(relation, exp.Table) and not isinstance(relation.this, exp.Identifier)
    is_data = isinstance(relation, exp.Table) and relation.catalog == "temp"
    if dialect == "duckdb" or not (is_file or is_data):
        return source, []
    name = Path(source.name).name.split(".")[0] if is_file else "source"
    taken = {each.name.lower() for each in beside.find_all(exp.Table)} if beside else set()
    while name.lower() in taken:
        name += "_population"
    note = f"reads a table {name!r}; copy {source.name} into it, with the same columns and types"
    return replace(source, relation=exp.table_(name, quoted=True)), [note]


def recipe_of(
    policy: Policy,
    source: Source,
    scheme: Scheme,
    header: Sequence[str] = (),
    dialect: str = "duckdb",
) -> Recipe:
    """What the policy says a release of this scheme consists of.

    For another dialect a population in a file is read from a table, and the header says so.
    """
    section = policy.section
    if section.privacy is None:
        raise PolicyError(
            f"{policy.origin}: privacy: is missing; say what every class of a release must have, "
            "such as `privacy: {k: 5}`"
        )
    suppression = section.suppression
    marked = suppression.limit > 0 and suppression.rows is SuppressedRows.MARK
    partitions = {c.name: (c, p) for c, p in zip(scheme.columns, scheme.partitions, strict=True)}
    items = [item_of(policy, info, partitions.get(info.name)) for info in source.columns]
    models = models_of(policy, source)
    population, notes = None, list[str]()
    if any(isinstance(model, KMap) for model in models):
        population = population_source(policy, source)
        assert population is not None  # a policy with k_map has one
        population, notes = portable_source(population, dialect, source.relation)
    return Recipe(
        source=source.relation,
        items=tuple(item for item in items if item is not None),
        k=k_of_release(policy, scheme),
        suppress=suppression.limit > 0,
        marker=suppression.marker if marked else None,
        subject=section.subject,
        unseen=section.publish.unseen,
        order=section.publish.order,
        header=(*header, *notes),
        models=models,
        sensitive=_sensitive(models, source),
        hierarchies=sensitive_hierarchies(policy, source),
        population=None if population is None else population.relation,
        population_subject=section.population.subject if section.population else None,
    )


def shown(recipe: Recipe) -> Recipe:
    """A recipe whose SQL is read by people: tables have the names that the policy gives them."""
    population = None if recipe.population is None else as_given(recipe.population)
    return replace(recipe, source=as_given(recipe.source), population=population)


def recipe_to_publish(policy: Policy, source: Source, scheme: Scheme) -> Recipe:
    """The same with the population whenever there is one: it also tells risks."""
    recipe = recipe_of(policy, source, scheme)
    if recipe.population is not None:
        return recipe
    found = population_source(policy, source)
    return recipe if found is None else replace(recipe, population=found.relation)


def _sensitive(models: Sequence[Model], source: Source) -> tuple[Sensitive, ...]:
    """The columns that models speak of."""
    found = []
    for name in dict.fromkeys(model.column for model in models if model.column is not None):
        info = source.column(name)
        if info.kind is None:
            raise PolicyError(
                f"column {name!r} has type {info.type}, whose values no privacy model can tell "
                "apart; cast it to text or a number in the source query"
            )
        found.append(Sensitive(name, info.type, info.kind))
    return tuple(found)


def item_of(policy: Policy, info: ColumnInfo, generalized: Any) -> Item | None:
    """One column of the source as the release has it; None where it does not."""
    section = policy.section.columns.get(info.name)
    if section is None:
        # The subject need not be listed; it tells people apart, so it never goes out as it is.
        is_subject = info.name == policy.section.subject
        kept = policy.section.others is Others.INSENSITIVE and not is_subject
        return Verbatim(info.name, info.type) if kept else None
    if section.role is Role.IDENTIFYING:
        return None
    if section.role is Role.PSEUDONYM:
        return Pseudonym(info.name, key_parameter(policy, info.name))
    if section.role is not Role.QUASI:
        return Verbatim(info.name, info.type)
    column, partition = generalized
    return Generalized(
        column,
        partition,
        info.type,
        output=section.output,
        open_ends=opens_ends(section.open_ends, column),
        null_label=section.null_label,
        form=section.form or policy.section.publish.form,
    )


def key_parameter(policy: Policy, column: str) -> str:
    """The name of the parameter that holds the key of a column's pseudonyms."""
    number = list(policy.columns_with(Role.PSEUDONYM)).index(column) + 1
    return f"sqlanon_key_{number}"
