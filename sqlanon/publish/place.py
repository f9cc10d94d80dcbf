"""Where a release goes, and the places that it must not go to."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.engines import PublishingEngine, Reads, TableDetails
from sqlanon.errors import PublishError
from sqlanon.model import Mode
from sqlanon.publish.release import Release

STAGE_PREFIX = "sqlanon_stage_"
STAGE_COMMENT = "sqlanon: a release in the making, safe to drop"
RELEASE_COMMENT = "released by sqlanon"


@dataclass(frozen=True)
class Place:
    """Where a release goes.

    source     the relation to read, its tables by their full names
    population that of k-map and of the risks within it, likewise; None where there is none
    target     the full name of the table or view; None for a file
    former     what is replaced there
    stage      the full name of the table that is built and verified first
    temporary  whether that is a temporary table: what is not yet verified, and the private
               column with the subjects, must not get into the file of another database
    """

    source: exp.Expr
    target: exp.Table | None
    former: TableDetails | None
    stage: exp.Table
    temporary: bool
    population: exp.Expr | None = None


def stage_name() -> str:
    """A name that nobody has."""
    return f"{STAGE_PREFIX}{secrets.token_hex(16)}"


def find_place(engine: PublishingEngine, release: Release, stage: str) -> Place:
    """The place of a release; a PublishError says why there is none.

    Functions that hide built-in ones are refused where the SQL of a release would use them: on a
    connection of the caller, and in a view, which is resolved beside them when it is read.
    """
    if release.mode is Mode.VIEW or not engine.owned:
        engine.refuse_hidden_functions()
    population = release.recipe.population
    if population is not None:
        population = qualified(engine, population)
    return replace(_find_place(engine, release, population, stage), population=population)


def _find_place(
    engine: PublishingEngine, release: Release, population: exp.Expr | None, stage: str
) -> Place:
    source = qualified(engine, release.recipe.source)
    if release.file is not None:
        _refuse_read_file(engine, release.file, source, "the source")
        if population is not None:
            _refuse_read_file(engine, release.file, population, "the population")
        return Place(source, None, None, engine.temporary(stage), temporary=True)
    reads = engine.reads(source)
    if release.mode is Mode.REPLACE:
        assert isinstance(source, exp.Table)
        return _replacing(engine, source, stage)
    assert release.target is not None
    target = engine.locate(release.target, to_create=True)
    former = engine.details(target)
    name = _text(target)
    if any(
        _same(engine, target, table) for table in [*reads.tables, *reads.named, *_named(source)]
    ):
        raise PublishError(
            f"{name} is the source itself, or one of the tables that it reads; take another "
            "name, or mode: replace"
        )
    if population is not None:
        _refuse_population(engine, target, population)
    if release.mode is Mode.VIEW:
        _check_view(name, target, former, reads, "its source")
        if population is not None and release.recipe.counts_population:
            _check_view(name, target, former, engine.reads(population), "the population")
        return Place(source, target, former, engine.temporary(stage), temporary=True)
    if former is not None and former.is_view:
        raise PublishError(f"{name} is a view, not a table; take another name, or drop it first")
    if former is not None and former.comment != RELEASE_COMMENT:
        raise PublishError(
            f"table {name} exists and was not made by sqlanon (a release has the comment "
            f"{RELEASE_COMMENT!r}); drop or rename it first, or give another name"
        )
    _refuse_referenced(former)
    inside = reads.only_tables and all(table.catalog == target.catalog for table in reads.tables)
    place = exp.table_(stage, target.db, target.catalog, quoted=True)
    return Place(
        source,
        target,
        former,
        place if inside else engine.temporary(stage),
        temporary=not inside,
    )


def _replacing(engine: PublishingEngine, source: exp.Table, stage: str) -> Place:
    former = engine.details(source)
    if former is None:
        raise PublishError(f"there is no table {_text(source)}")
    if former.is_view:
        raise PublishError(
            f"mode replace needs a table as its source, and {_text(source)} is a view"
        )
    if source.catalog == "temp":
        raise PublishError(f"{_text(source)} is a temporary table; only others can be replaced")
    _refuse_referenced(former)
    place = exp.table_(stage, source.db, source.catalog, quoted=True)
    return Place(former.table, former.table, former, place, temporary=False)


def _refuse_referenced(former: TableDetails | None) -> None:
    if former is not None and former.referenced_by:
        listed = ", ".join(map(repr, former.referenced_by))
        raise PublishError(
            f"{_text(former.table)} cannot be replaced: foreign keys of other tables refer to it "
            f"({listed}); drop those first, or publish to another table"
        )


def _refuse_population(engine: PublishingEngine, target: exp.Table, population: exp.Expr) -> None:
    """The population is needed for the next release, and it is nobody's to replace."""
    reads = engine.reads(population)
    tables = [*reads.tables, *reads.named, *_named(population)]
    if any(_same(engine, target, table) for table in tables):
        raise PublishError(
            f"{_text(target)} is the population, or one of the tables that it reads; take another "
            "name"
        )


def _check_view(
    name: str, target: exp.Table, former: TableDetails | None, reads: Reads, whose: str
) -> None:
    if former is not None and not former.is_view:
        raise PublishError(f"{name} is a table, not a view; take another name, or drop it first")
    # What a view names in a part that the plan leaves out would be missing later.
    temporary = [table for table in reads.named if table.catalog == "temp"]
    tables = [*reads.tables, *(each for each in temporary if each not in reads.tables)]
    others = [table for table in tables if table.catalog != target.catalog]
    if others or not reads.only_tables:
        what = ", ".join(map(_text, others)) or "something else than tables"
        raise PublishError(
            f"a view reads what is in its own database, but {whose} reads {what}; take mode table"
        )


def qualified(engine: PublishingEngine, source: exp.Expr) -> exp.Expr:
    """The source with full names for its tables, so that it means the same in a view."""
    whole = source.copy()
    if isinstance(whole, exp.Table) and isinstance(whole.this, exp.Identifier):
        return engine.locate(whole)
    hidden = {cte.alias.lower() for cte in whole.find_all(exp.CTE)}
    for table in list(whole.find_all(exp.Table)):
        plain = isinstance(table.this, exp.Identifier)
        if plain and (table.db or table.name.lower() not in hidden):
            found = engine.details(engine.locate(table))
            if found is not None:
                for part in ("db", "catalog"):
                    table.set(part, found.table.args[part].copy())
    return whole


def _named(source: exp.Expr) -> list[exp.Table]:
    tables = source.find_all(exp.Table)
    return [t for t in tables if isinstance(t.this, exp.Identifier) and t.catalog]


def _same(engine: PublishingEngine, target: exp.Table, table: exp.Table) -> bool:
    located = engine.locate(table)
    parts = ("catalog", "db", "name")
    return all(getattr(target, part) == getattr(located, part) for part in parts)


def _refuse_read_file(engine: PublishingEngine, file: Path, relation: exp.Expr, what: str) -> None:
    if not file.exists():
        return
    reads = engine.may_read(relation, file)
    if reads:
        raise PublishError(f"file {file} is {what} itself, or part of it; take another name")
    if reads is None:
        raise PublishError(
            f"file {file} exists, and it cannot be told whether {what} reads it; take "
            "another name, or remove the file first"
        )


def _text(table: exp.Table) -> str:
    return repr(".".join(part for part in (table.catalog, table.db, table.name) if part))
