"""The plan of a publish: where a release goes, and the statements that build it there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sqlanon.domain import Mode
from sqlanon.engines import Capabilities, ColumnInfo, TableDetails, spelled
from sqlanon.errors import PublishError
from sqlanon.release.compile import Compiled, compile_release, compile_uncovered, statement_text
from sqlanon.release.generalize import SOURCE
from sqlanon.release.lists import LoadedList
from sqlanon.release.order import Order
from sqlanon.release.rows import POPULATION, aliased
from sqlanon.render import Sql, render_text

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
        steps: list[str] = []
        if not self.can.comments:
            return steps
        text = None if former is None else former.comment
        mode = self.order.mode
        if mode is Mode.TABLE or (mode is Mode.REPLACE and text is None):
            text = RELEASE_COMMENT
        if text is not None or not self.temporary:  # a staged table carries a mark
            steps.append(self._text(template, table=target, text=text))
        if former is None:
            return steps
        for column, text in _column_comments(former, self.released_names):
            steps.append(self._text(_COMMENT_COLUMN, table=target, column=column, text=text))
        return steps

    def _pretty(self, query: exp.Expr) -> Sql:
        text = statement_text(query, self.dialect)
        if "\0" in text:
            raise PublishError("the SQL contains a NUL character, which has no safe spelling")
        return Sql(text)

    def _text(self, template: str, **context: object) -> str:
        return render_text(template, dialect=self.dialect, **context)


def _column_comments(former: TableDetails, names: Sequence[str]) -> list[tuple[str, str]]:
    comments = {column.name: column.comment for column in former.columns}
    return [(name, text) for name in names if (text := comments.get(name)) is not None]
