"""The plan of a publish: where a release goes, and the statements that build it there."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sqlglot import exp

from sqlanon.counting import refuse_empty
from sqlanon.domain import Mode
from sqlanon.engines import Capabilities, ColumnInfo, Engine, Reads, Source, TableDetails, spelled
from sqlanon.errors import (
    DomainError,
    EngineError,
    HierarchyError,
    PublishError,
    SchemeError,
    SqlanonError,
    VerificationError,
)
from sqlanon.policy import Policy
from sqlanon.release.compile import Compiled, compile_release, compile_uncovered, statement_text
from sqlanon.release.generalize import SOURCE
from sqlanon.release.lists import LoadedList, for_view, loaded_lists
from sqlanon.release.order import Order, refuse_impossible
from sqlanon.release.rows import POPULATION, aliased
from sqlanon.render import Sql, render_text
from sqlanon.wording import counted

STAGE_PREFIX = "sqlanon_stage_"
STAGE_COMMENT = "sqlanon: a release in the making, safe to drop"
RELEASE_COMMENT = "released by sqlanon"

_CREATE = "CREATE TABLE {{ table | sql }} AS\n{{ select }}"
_CREATE_TEMPORARY = "CREATE TEMPORARY TABLE {{ table | sql }} AS\n{{ select }}"
_CREATE_VIEW = "CREATE OR REPLACE VIEW {{ table | sql }} AS\n{{ select }}"
_CREATE_VIEW_WITH = "CREATE VIEW {{ table | sql }} WITH ({{ options }}) AS\n{{ select }}"
_DROP_VIEW = "DROP VIEW {{ table | sql }}"
_LOCK = "LOCK TABLE {{ table | sql }} IN EXCLUSIVE MODE"
_DROP = "DROP TABLE {{ table | sql }}"
_EMPTY = "TRUNCATE TABLE ONLY {{ table | sql }}"
_ADD_COLUMN = "ALTER TABLE {{ table | sql }} ADD COLUMN {{ column | identifier }} {{ type }}"
_MAY_BE_NULL = "ALTER TABLE {{ table | sql }} ALTER COLUMN {{ column | identifier }} DROP NOT NULL"
_FILL = """\
INSERT INTO {{ table | sql }} ({{ columns | cells }}) OVERRIDING SYSTEM VALUE
SELECT {{ columns | cells }} FROM {{ stage | sql }}"""
_DROP_COLUMN = "ALTER TABLE {{ table | sql }} DROP COLUMN {{ column | identifier }}"
_RENAME = "ALTER TABLE {{ table | sql }} RENAME TO {{ name | identifier }}"
_NOT_NULL = "ALTER TABLE {{ table | sql }} ALTER COLUMN {{ column | identifier }} SET NOT NULL"
_COMMENT = "COMMENT ON TABLE {{ table | sql }} IS {{ text | literal }}"
_COMMENT_VIEW = "COMMENT ON VIEW {{ table | sql }} IS {{ text | literal }}"
_COMMENT_COLUMN = (
    "COMMENT ON COLUMN {{ table | sql }}.{{ column | identifier }} IS {{ text | literal }}"
)


@dataclass(frozen=True)
class ReleasePlan:
    """Where a release goes, and the statements that build it there.

    order      what is released; the tables that it reads have their full names
    target     the full name of the table or view; None for a file
    former     what is replaced there
    stage      the full name of the table that is built and verified first
    temporary  whether that is a temporary table: what is not yet verified, and the private
               column with the subjects, must not get into the file of another database
    lists      what is loaded as tables before anything is counted
    """

    order: Order
    target: exp.Table | None
    former: TableDetails | None
    stage: exp.Table
    temporary: bool
    dialect: str
    can: Capabilities
    lists: tuple[LoadedList, ...] = ()

    @property
    def target_name(self) -> str:
        """The full name, with quotes where it needs them, or the path of the file."""
        if self.order.file is not None:
            return str(self.order.file.resolve())
        assert self.target is not None
        return spelled(self.target)

    @property
    def is_in_place(self) -> bool:
        """Whether the rows are replaced within the table, because things are bound to it."""
        replaces = self.order.mode is Mode.REPLACE
        return replaces and self.former is not None and bool(self.former.bound)

    def same_columns(self, released: Sequence[ColumnInfo]) -> frozenset[str]:
        """The columns of the former table that the release has with the same type."""
        if self.former is None:
            return frozenset()
        same = self.former.same_columns(released)
        if self.is_in_place:  # no value of ours goes into a generated column
            same -= {column.name for column in self.former.columns if column.is_generated}
        return same

    @property
    def guarded(self) -> bool:
        """Whether the SELECT must show no small class when its source changes: in a view."""
        return self.order.mode is Mode.VIEW

    @cached_property
    def compiled(self) -> Compiled:
        """The SELECT of the staged table."""
        keep = self.order.subject is not None
        return compile_release(self.order, guarded=self.guarded, keep_subject=keep)

    @cached_property
    def released(self) -> Compiled:
        """The SELECT without the private column of subjects: that of a view."""
        if self.compiled.subject is None:
            return self.compiled
        return compile_release(self.order, guarded=self.guarded)

    def select_as_given(self, order: Order) -> exp.Query:
        """The SELECT of the release, reading its tables by the names that an order has for them.

        Both orders load the same lists.
        """
        select = self.released.select.copy()
        pairs = [(SOURCE, self.order.source, order.source)]
        if self.order.population is not None and order.population is not None:
            pairs.append((POPULATION, self.order.population, order.population))
        for column, loaded in self.order.loaded.items():
            for table in [each for each in select.find_all(exp.Table) if each == loaded]:
                table.replace(order.loaded[column].copy())
        for name, located, given in pairs:
            read, shown = aliased(located, name), aliased(given, name)
            for node in [each for each in select.find_all(type(read)) if each == read]:
                node.replace(shown.copy())
        return select

    @property
    def opening(self) -> list[str]:
        """Everything up to the staged table."""
        lists = [each.create(self.dialect) for each in self.lists]
        return [*lists, *self.hold_off, self.count_source, self.build_stage, *self.mark_stage]

    @property
    def hold_off(self) -> list[str]:
        """Makes other connections' changes of a table that is replaced fail until the end.

        Else rows that come in meanwhile would be lost with it. DuckDB has no LOCK TABLE; a
        change of the table's entry in the catalog does the same.
        """
        former = self.former
        if self.order.mode is not Mode.REPLACE or former is None:
            return []
        if self.can.locks or not self.can.comments:
            return []
        return [self._text(_COMMENT, table=former.table, text=former.comment)]

    @cached_property  # its text, with the lists of long mappings, takes time to write
    def count_source(self) -> str:
        """Counts rows, people, and by column the values that belong to no group."""
        return self._pretty(self.compiled.counts)

    def uncovered(self, name: str) -> str:
        """Lists the values of a column that belong to no group."""
        return self._pretty(compile_uncovered(self.order, name))

    @cached_property
    def build_stage(self) -> str:
        """The one statement that takes the keys of pseudonyms as parameters."""
        template = _CREATE_TEMPORARY if self.temporary else _CREATE
        select = self._pretty(self.compiled.select)
        return self._text(template, table=self.stage, select=select)

    @property
    def mark_stage(self) -> list[str]:
        """A mark by which a staged table is known should it ever be left over."""
        if self.temporary or not self.can.comments:
            return []
        return [self._text(_COMMENT, table=self.stage, text=STAGE_COMMENT)]

    @property
    def drop_lists(self) -> list[str]:
        return [each.drop(self.dialect) for each in self.lists]

    @property
    def drop_stage(self) -> str:
        return self._text(_DROP, table=self.stage)

    @property
    def lock(self) -> list[str]:
        """Makes other connections wait that would change what is replaced; readers go on."""
        if self.former is None or self.former.is_view or not self.can.locks:
            return []
        return [self._text(_LOCK, table=self.former.table)]

    def swap(self, not_null: Sequence[str], released: Sequence[ColumnInfo]) -> list[str]:
        """Puts the verified table in its place.

        `not_null` names columns without NULL, `released` are the columns of the release.
        """
        target, same = self.target, self.same_columns(released)
        assert target is not None
        if self.is_in_place:
            return self._replace_rows(not_null, released, same)
        if self.order.mode is Mode.VIEW:
            steps = self._create_view(target)
            steps += [*self._comments(_COMMENT_VIEW), self.drop_stage]
            return [*steps, *self.rebuilt(same)]
        steps = []
        if self.former is not None:
            steps.append(self._text(_DROP, table=self.former.table))
        if self.temporary:
            columns = [exp.column(name, quoted=True) for name in self.released_names]
            select = self._pretty(exp.select(*columns).from_(self.stage.copy()))
            steps.append(self._text(_CREATE, table=target, select=select))
            steps.append(self.drop_stage)
        else:
            if self.compiled.subject is not None:
                column = self.compiled.subject
                drop = self._text(_DROP_COLUMN, table=self.stage, column=column)
                steps.insert(0, drop)
            steps.append(self._text(_RENAME, table=self.stage, name=target.name))
        steps += self._comments(_COMMENT)
        steps += [self._text(_NOT_NULL, table=target, column=name) for name in not_null]
        return [*steps, *self.rebuilt(same)]

    def _replace_rows(
        self, not_null: Sequence[str], released: Sequence[ColumnInfo], same: Collection[str]
    ) -> list[str]:
        """Replaces the rows within the table, and the columns that change, so that all stays that
        is bound to the table and needs none of these.

        An emptied table gets a new file, and the columns are made anew before there are rows.
        """
        former = self.former
        assert former is not None
        table = former.table
        changed = [each for each in former.columns if each.name not in same]
        changed.sort(key=lambda each: not each.is_generated)  # they may need the others
        columns = [exp.column(name, quoted=True) for name in self.released_names]
        loose = [name for name in self.was_not_null() if name in same and name not in not_null]
        return [
            *former.before,
            self._text(_EMPTY, table=table),
            *(self._text(_DROP_COLUMN, table=table, column=each.name) for each in changed),
            *(
                self._text(_ADD_COLUMN, table=table, column=each.name, type=Sql(each.type))
                for each in released
                if each.name not in same
            ),
            *(self._text(_MAY_BE_NULL, table=table, column=name) for name in loose),
            self._text(_FILL, table=table, columns=columns, stage=self.stage),
            self.drop_stage,
            *self._comments(_COMMENT),
            *(self._text(_NOT_NULL, table=table, column=n) for n in not_null if n not in same),
            *former.after,
        ]

    def _create_view(self, target: exp.Table) -> list[str]:
        select = self._pretty(self.released.select)
        if self.can.view_options is None:
            return [self._text(_CREATE_VIEW, table=target, select=select)]
        # It could not be replaced by one with other columns.
        steps = [] if self.former is None else [self._text(_DROP_VIEW, table=target)]
        options = Sql(self.can.view_options)
        return [*steps, self._text(_CREATE_VIEW_WITH, table=target, options=options, select=select)]

    def rebuilt(self, same: Collection[str]) -> list[str]:
        """Gives the release the owner, the rights and the indexes of what it replaces."""
        former = self.former
        return [] if former is None else [each.sql for each in former.kept(same)]

    @property
    def released_names(self) -> tuple[str, ...]:
        return self.order.released_names

    def was_not_null(self) -> list[str]:
        """Released columns that must not be NULL in what they replace."""
        former = self.former
        if former is None or former.is_view:
            return []
        strict = {column.name for column in former.columns if not column.nullable}
        return [name for name in self.released_names if name in strict]

    def _comments(self, template: str) -> list[str]:
        """The comments of the former table and of its columns that are still there.

        By its comment a later release knows that it may replace this one, or that the rows of
        its source are replaced already; a comment of the user's own is worth more than that.
        """
        former, target = self.former, self.target
        if not self.can.comments:
            return []
        steps = []
        text = None if former is None else former.comment
        mode = self.order.mode
        if mode is Mode.TABLE or (mode is Mode.REPLACE and text is None):
            text = RELEASE_COMMENT
        if text is not None or not self.temporary:  # a staged table carries a mark
            steps.append(self._text(template, table=target, text=text))
        if former is None:
            return steps
        comments = {column.name: column.comment for column in former.columns}
        return steps + [
            self._text(_COMMENT_COLUMN, table=target, column=name, text=text)
            for name in self.released_names
            if (text := comments.get(name)) is not None
        ]

    def _pretty(self, query: exp.Expr) -> Sql:
        text = statement_text(query, self.dialect)
        if "\0" in text:
            raise PublishError("the SQL contains a NUL character, which has no safe spelling")
        return Sql(text)

    def _text(self, template: str, **context: object) -> str:
        return render_text(template, dialect=self.dialect, **context)


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
        plan = _in_place(plan, released_columns(engine, given))
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


def _in_place(plan: ReleasePlan, released: Sequence[ColumnInfo]) -> ReleasePlan:
    """The plan with the columns in the order that they have once those that change are added."""
    _refuse_unfit(plan, released)
    same = plan.same_columns(released)
    items = sorted(plan.order.items, key=lambda item: not same.issuperset(item.released_names))
    places = {item.name: place for place, item in enumerate(items)}
    roles = dict(sorted(plan.order.roles.items(), key=lambda pair: places.get(pair[0], -1)))
    return replace(plan, order=replace(plan.order, items=tuple(items), roles=roles))


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


def released_before(policy: Policy, source: Source) -> str:
    """What to add to a message where the source's rows were replaced by a release already."""
    engine, table = source.engine, source.relation
    if policy.section.publish.mode is not Mode.REPLACE or not isinstance(table, exp.Table):
        return ""
    try:
        found = engine.details(engine.locate(table))
    except EngineError:
        return ""
    if found is None or found.comment != RELEASE_COMMENT:
        return ""
    return (
        f"\nTable {source.name} is a release already: it has the comment {RELEASE_COMMENT!r}, and "
        "the policy says mode: replace. Load its original rows anew before you release it again."
    )


@contextmanager
def telling_of_release(policy: Policy, source: Source) -> Iterator[None]:
    """What fails on a source that is a release already, or has no rows, says so, once.

    An empty CSV file has no types, only text, so what fails there is not the cause.
    """
    try:
        try:
            yield
        except (DomainError, HierarchyError, SchemeError, VerificationError):
            refuse_empty(source)
            raise
    except SqlanonError as error:
        already = released_before(policy, source)
        if not already or already in str(error):
            raise
        raise error.reworded(f"{error}{already}") from None
