"""Where a release goes, the places that it must not go to, and what it changes there."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from sqlanon.domain import Mode
from sqlanon.engines import ColumnInfo, Engine, Reads, TableDetails
from sqlanon.errors import EngineError, PublishError
from sqlanon.release.compile import compile_release
from sqlanon.release.lists import for_view, loaded_lists
from sqlanon.release.order import Order, refuse_impossible
from sqlanon.release.plan import RELEASE_COMMENT, STAGE_PREFIX, ReleasePlan
from sqlanon.wording import counted


def make_plan(engine: Engine, order: Order, stage: str | None = None) -> ReleasePlan:
    """The plan of a release; a PublishError says why there is no place for it.

    Functions that hide built-in ones are refused where the SQL of a release would use them: on a
    connection of the caller, and in a view, which is resolved beside them when it is read. The
    staged table gets a random name unless one is given.
    """
    refuse_impossible(order)
    if order.mode is Mode.VIEW and not engine.can.guarded_views:
        raise PublishError(
            f"a view on {engine.dialect} could show its readers what it leaves out; take mode table"
        )
    if order.mode is Mode.VIEW or not engine.owned:
        engine.refuse_hidden_functions()
    population = None if order.population is None else qualified(engine, order.population)
    order = replace(order, source=qualified(engine, order.source), population=population)
    if order.mode is Mode.VIEW:
        order = for_view(order)
    stage = stage or f"{STAGE_PREFIX}{secrets.token_hex(16)}"
    most = len(order.items) + 2  # a cut tree has two
    tables = [engine.temporary(f"{stage}_list_{n + 1}") for n in range(most)]
    given = order
    order, lists = loaded_lists(order, tables)
    if order.file is not None:
        plan = _plan_of_file(engine, order, order.file, stage)
    elif order.mode is Mode.REPLACE:
        plan = _plan_of_replacement(engine, order, stage)
    else:
        plan = _plan_of_table(engine, order, stage)
    if plan.is_in_place:
        _refuse_unfit(plan, released_columns(engine, given))
    return replace(plan, lists=lists)


def _plan(
    engine: Engine,
    order: Order,
    target: exp.Table | None,
    former: TableDetails | None,
    stage: exp.Table,
    temporary: bool,
) -> ReleasePlan:
    return ReleasePlan(order, target, former, stage, temporary, engine.dialect, engine.can)


def _plan_of_file(engine: Engine, order: Order, file: Path, stage: str) -> ReleasePlan:
    _refuse_read_file(engine, file, order.source, "the source")
    if order.population is not None:
        _refuse_read_file(engine, file, order.population, "the population")
    return _plan(engine, order, None, None, engine.temporary(stage), True)


def _plan_of_table(engine: Engine, order: Order, stage: str) -> ReleasePlan:
    assert order.target is not None
    reads = engine.reads(order.source)
    target = engine.locate(order.target, to_create=True)
    former = engine.details(target)
    name = _text(target)
    if any(
        _same(engine, target, table)
        for table in [*reads.tables, *reads.named, *_named(order.source)]
    ):
        raise PublishError(
            f"{name} is the source itself, or one of the tables that it reads; take another "
            "name, or mode: replace"
        )
    population = order.population
    if population is not None:
        _refuse_population(engine, target, population)
    if order.mode is Mode.VIEW:
        _check_view(engine, target, former, reads, "its source")
        if population is not None and order.counts_population:
            _check_view(engine, target, former, engine.reads(population), "the population")
        _refuse_bound(former)
        return _plan(engine, order, target, former, engine.temporary(stage), True)
    if former is not None and former.is_view:
        raise PublishError(f"{name} is a view, not a table; take another name, or drop it first")
    if former is not None and former.comment != RELEASE_COMMENT:
        raise PublishError(
            f"table {name} exists and was not made by sqlanon (a release has the comment "
            f"{RELEASE_COMMENT!r}); drop or rename it first, or give another name"
        )
    _refuse_referenced(former)
    _refuse_bound(former)
    inside = engine.can.renames and reads.only_tables and not _leaves_subjects(engine, order)
    inside = inside and all(table.catalog == target.catalog for table in reads.tables)
    place = exp.table_(stage, target.db, target.catalog, quoted=True)
    staged = place if inside else engine.temporary(stage)
    return _plan(engine, order, target, former, staged, not inside)


def _leaves_subjects(engine: Engine, order: Order) -> bool:
    """Whether the file of a staged table would keep the subjects once their column is dropped."""
    return order.subject is not None and not engine.can.erases_columns


def _plan_of_replacement(engine: Engine, order: Order, stage: str) -> ReleasePlan:
    source = order.source
    assert isinstance(source, exp.Table)
    former = engine.details(source)
    if former is None:
        raise PublishError(f"there is no table {_text(source)}")
    if former.is_view:
        raise PublishError(
            f"mode replace needs a table as its source, and {_text(source)} is a view"
        )
    if engine.is_temporary(source):
        raise PublishError(f"{_text(source)} is a temporary table; only others can be replaced")
    _refuse_referenced(former)
    order = replace(order, source=former.table)
    if former.bound or _leaves_subjects(engine, order):
        return _plan(engine, order, former.table, former, engine.temporary(stage), True)
    place = exp.table_(stage, source.db, source.catalog, quoted=True)
    return _plan(engine, order, former.table, former, place, False)


def _refuse_bound(former: TableDetails | None) -> None:
    """Refuses to replace what others are bound to: they would go on with the former rows."""
    if former is not None and former.bound:
        kind = "view" if former.is_view else "table"
        raise PublishError(
            f"{kind} {_text(former.table)} cannot be replaced, because it has what is bound to "
            f"it: {'; '.join(each.text for each in former.bound)}. Drop these first and make them "
            "again on the release, or publish to another name"
        )


def _refuse_unfit(plan: ReleasePlan, released: Sequence[ColumnInfo]) -> None:
    """Refuses to replace the rows within a table that has what cannot stay then."""
    former, same = plan.former, plan.same_columns(released)
    assert former is not None
    found = []
    for each in former.bound:
        if each.columns is None:
            found.append(each.text)
        elif lacking := sorted(each.columns - same):
            found.append(f"{each.text}, which needs {', '.join(map(repr, lacking))} as before")
    if found:
        raise PublishError(
            f"table {_text(former.table)} cannot be replaced, because it has what is bound to it "
            f"and would not fit the release: {'; '.join(found)}. Drop these first and make them "
            "again on the release, or publish to another name"
        )


def _refuse_referenced(former: TableDetails | None) -> None:
    if former is not None and former.referenced_by:
        listed = ", ".join(map(repr, former.referenced_by))
        raise PublishError(
            f"{_text(former.table)} cannot be replaced: foreign keys of other tables refer to it "
            f"({listed}); drop those first, or publish to another table"
        )


def _refuse_population(engine: Engine, target: exp.Table, population: exp.Expr) -> None:
    """Refuses to replace the population, which the next release needs."""
    reads = engine.reads(population)
    tables = [*reads.tables, *reads.named, *_named(population)]
    if any(_same(engine, target, table) for table in tables):
        raise PublishError(
            f"{_text(target)} is the population, or one of the tables that it reads; take another "
            "name"
        )


def _check_view(
    engine: Engine, target: exp.Table, former: TableDetails | None, reads: Reads, whose: str
) -> None:
    if former is not None and not former.is_view:
        raise PublishError(
            f"{_text(target)} is a table, not a view; take another name, or drop it first"
        )
    # What a view names in a part that the plan leaves out would be missing later.
    temporary = [table for table in reads.named if engine.is_temporary(table)]
    tables = [*reads.tables, *(each for each in temporary if each not in reads.tables)]
    others = [table for table in tables if table.catalog != target.catalog]
    if others or not reads.only_tables:
        what = ", ".join(map(_text, others)) or "something else than tables"
        raise PublishError(
            f"a view reads what is in its own database, but {whose} reads {what}; take mode table"
        )


def qualified(engine: Engine, source: exp.Expr) -> exp.Expr:
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


def _same(engine: Engine, target: exp.Table, table: exp.Table) -> bool:
    located = engine.locate(table)
    parts = ("catalog", "db", "name")
    return all(getattr(target, part) == getattr(located, part) for part in parts)


def _refuse_read_file(engine: Engine, file: Path, relation: exp.Expr, what: str) -> None:
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


def type_changes(engine: Engine, order: Order) -> list[str]:
    """The columns of the source that the release changes, and those that it adds, a line each."""
    source = {info.name: info.type for info in engine.columns(order.source)}
    after = {info.name: info.type for info in released_columns(engine, order)}
    found = []
    for name, type_ in source.items():
        if name not in after:
            found.append(f"{name}: {type_}, removed")
        elif after[name] != type_:
            found.append(f"{name}: {type_} becomes {after[name]}")
    return found + [f"{n}: new, {type_}" for n, type_ in after.items() if n not in source]


def released_columns(engine: Engine, order: Order) -> tuple[ColumnInfo, ...]:
    """The columns that the release will have, without building it."""
    guarded = order.mode is Mode.VIEW
    select = compile_release(order, guarded=guarded).select
    # A parameter has no type until it has a value, and any text has the right one.
    without_keys = select.transform(
        lambda node: exp.Literal.string("") if isinstance(node, exp.Placeholder) else node
    )
    return engine.columns(
        exp.Subquery(this=without_keys, alias=exp.TableAlias(this=exp.to_identifier("released")))
    )


def losses(plan: ReleasePlan, released: Sequence[ColumnInfo]) -> list[str]:
    """What a table had and its replacement has not, besides rows and columns, and what stays that
    is bound to it."""
    former, same = plan.former, plan.same_columns(released)
    if former is None or former.is_view:
        return []
    kept = {each.index for each in former.kept(same)}
    stays: set[str] = set()
    if plan.is_in_place:
        kept = {name for name, columns in former.needs.items() if columns <= same}
        stays = set(same)
    lost = [f"the constraint {text} is gone" for text in former.constraints if text not in kept]
    lost += [f"the index {name!r} is gone" for name in former.indexes if name not in kept]
    lost += [f"the statistics {name!r} are gone" for name in former.statistics if name not in kept]
    for column in former.columns:
        if column.is_generated:
            what = "holds plain values now" if column.name in plan.released_names else "is gone"
            lost.append(f"the generated column {column.name!r} {what}")
        elif column.default is not None and column.name in {*plan.released_names} - stays:
            lost.append(f"the default {column.default} of column {column.name!r} is gone")
    if plan.is_in_place:
        lost += [f"{each.text} {each.effect}" for each in former.bound]
    return lost


def foreseen(engine: Engine, order: Order) -> list[str]:
    """What a release in place of its source takes away, and the views that read the table."""
    plan = make_plan(engine, order)
    rows = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(plan.order.source.copy())
    (found,) = engine.fetch(rows).to_pylist()
    former = plan.former
    assert former is not None
    lost = [f"the original {counted(found['n'], 'row')} will be gone"]
    lost += losses(plan, released_columns(engine, order))
    return lost + [
        f"the view {_spelled(view)!r} reads the table: it shows the release then, or no longer "
        "works if it needs what is gone"
        for view in working_views(engine, former)
    ]


def working_views(engine: Engine, former: TableDetails | None) -> list[exp.Table]:
    """The views that name the table and can be read at the moment."""
    views = former.views if former is not None else ()
    return [view for view in views if _works(engine, view)]


def _works(engine: Engine, view: exp.Table) -> bool:
    try:
        engine.columns(view)
    except EngineError:
        return False
    return True


def view_effects(engine: Engine, views: Sequence[exp.Table]) -> list[str]:
    """What became of views that could be read before."""
    effects = []
    for view in views:
        name = _spelled(view)
        if _works(engine, view):
            effects.append(f"the view {name!r} reads the table and shows the release now")
        else:
            effects.append(f"the view {name!r} reads the table and no longer works")
    return effects


def _spelled(view: exp.Table) -> str:
    return ".".join((view.db, view.name))


def remaining(
    order: Order,
    replaced: bool,
    file: Path | None = None,
    logs: Sequence[Path] = (),
    *,
    vacuums: bool = False,
) -> list[str]:
    """Where former rows can still be read after a publish.

    `file` holds the target's database, and `logs` beside it what is not in it yet; a server
    `vacuums`.
    """
    if not replaced or order.mode is Mode.VIEW:
        return []
    whose = "of the source" if order.mode is Mode.REPLACE else "of the former release"
    texts = []
    if file is not None:
        texts = [f"rows {whose} can be read from the unused space of {file} until it is rewritten"]
        texts += [f"rows {whose} may be in {log} until the next checkpoint" for log in logs]
    if vacuums:
        texts = [f"column statistics of rows {whose} are in the database until it is vacuumed"]
    return [*texts, f"rows {whose} are in every backup and copy of the database"]


def without_logs(remains: Sequence[str], logs: Sequence[Path]) -> tuple[str, ...]:
    """The same once the databases are closed, and those of their logs that are gone with that."""
    gone = [str(log) for log in logs if not log.exists()]
    return tuple(text for text in remains if not any(f" {log} " in text for log in gone))
