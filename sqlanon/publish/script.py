"""The statements of a publish, as they are printed and run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as changed

from sqlglot import exp

from sqlanon.compile import Compiled, compile_release, compile_uncovered, statement_text
from sqlanon.engines import TableDetails
from sqlanon.errors import PublishError
from sqlanon.model import Mode
from sqlanon.publish.place import RELEASE_COMMENT, STAGE_COMMENT, Place
from sqlanon.publish.release import Release
from sqlanon.render import Sql, render_text

_CREATE = "CREATE TABLE {{ table | sql }} AS\n{{ select }}"
_CREATE_TEMPORARY = "CREATE TEMPORARY TABLE {{ table | sql }} AS\n{{ select }}"
_CREATE_VIEW = "CREATE OR REPLACE VIEW {{ table | sql }} AS\n{{ select }}"
_DROP = "DROP TABLE {{ table | sql }}"
_DROP_COLUMN = "ALTER TABLE {{ table | sql }} DROP COLUMN {{ column | identifier }}"
_RENAME = "ALTER TABLE {{ table | sql }} RENAME TO {{ name | identifier }}"
_NOT_NULL = "ALTER TABLE {{ table | sql }} ALTER COLUMN {{ column | identifier }} SET NOT NULL"
_COMMENT = "COMMENT ON TABLE {{ table | sql }} IS {{ text | literal }}"
_COMMENT_VIEW = "COMMENT ON VIEW {{ table | sql }} IS {{ text | literal }}"
_COMMENT_COLUMN = (
    "COMMENT ON COLUMN {{ table | sql }}.{{ column | identifier }} IS {{ text | literal }}"
)


class Script:
    """The statements that build one release in its place, in a dialect."""

    def __init__(self, release: Release, place: Place, dialect: str) -> None:
        self._release, self._place, self._dialect = release, place, dialect
        guarded = release.mode is Mode.VIEW
        self._recipe = recipe = changed(
            release.recipe, source=place.source, population=place.population
        )
        keep = recipe.subject is not None
        self.compiled: Compiled = compile_release(recipe, guarded=guarded, keep_subject=keep)
        self.released: Compiled = compile_release(recipe, guarded=guarded)

    @property
    def opening(self) -> list[str]:
        """Everything up to the staged table."""
        counts = [self.unseen, self.source_rows]
        return [*self.hold_off, *counts, self.stage, *self.mark_stage]

    @property
    def hold_off(self) -> list[str]:
        """Makes other connections' changes of a table that is replaced fail until the end.

        Else rows that come in meanwhile would be lost with it. DuckDB has no LOCK TABLE; a
        change of the table's entry in the catalog does the same.
        """
        former = self._place.former
        if self._release.mode is not Mode.REPLACE or former is None:
            return []
        return [self._text(_COMMENT, table=former.table, text=former.comment)]

    @property
    def unseen(self) -> str:
        """Counts values that belong to no group."""
        return self._pretty(self.compiled.unseen)

    def uncovered(self, name: str) -> str:
        """Lists the values of a column that belong to no group."""
        return self._pretty(compile_uncovered(self._recipe, name))

    @property
    def source_rows(self) -> str:
        count = exp.Count(this=exp.Star()).as_("n_rows", quoted=True)
        return self._pretty(exp.select(count).from_(self._place.source.copy()))

    @property
    def stage(self) -> str:
        """The one statement that takes the keys of pseudonyms as parameters."""
        template = _CREATE_TEMPORARY if self._place.temporary else _CREATE
        select = self._pretty(self.compiled.select)
        return self._text(template, table=self._place.stage, select=select)

    @property
    def mark_stage(self) -> list[str]:
        """A mark by which a staged table is known should it ever be left over."""
        if self._place.temporary:
            return []
        return [self._text(_COMMENT, table=self._place.stage, text=STAGE_COMMENT)]

    @property
    def drop_stage(self) -> str:
        return self._text(_DROP, table=self._place.stage)

    def swap(self, not_null: Sequence[str]) -> list[str]:
        """Puts the verified table in its place; `not_null` names columns without NULL."""
        place, target = self._place, self._place.target
        assert target is not None
        if self._release.mode is Mode.VIEW:
            select = self._pretty(self.released.select)
            steps = [self._text(_CREATE_VIEW, table=target, select=select)]
            return [*steps, *self._comments(_COMMENT_VIEW), self.drop_stage]
        steps = []
        if place.former is not None:
            steps.append(self._text(_DROP, table=place.former.table))
        if place.temporary:
            columns = [exp.column(name, quoted=True) for name in self.released_names]
            select = self._pretty(exp.select(*columns).from_(place.stage.copy()))
            steps.append(self._text(_CREATE, table=target, select=select))
            steps.append(self.drop_stage)
        else:
            if self.compiled.subject is not None:
                column = self.compiled.subject
                drop = self._text(_DROP_COLUMN, table=place.stage, column=column)
                steps.insert(0, drop)
            steps.append(self._text(_RENAME, table=place.stage, name=target.name))
        steps += self._comments(_COMMENT)
        return steps + [self._text(_NOT_NULL, table=target, column=name) for name in not_null]

    @property
    def released_names(self) -> tuple[str, ...]:
        return self._release.recipe.released_names

    def was_not_null(self) -> list[str]:
        """Released columns that must not be NULL in what they replace."""
        former = self._place.former
        if former is None or former.is_view:
            return []
        strict = {column.name for column in former.columns if not column.nullable}
        return [name for name in self.released_names if name in strict]

    def _comments(self, template: str) -> list[str]:
        """The comments of the former table and of its columns that are still there.

        By its comment a later release knows that it may replace this one, or that the rows of
        its source are replaced already; a comment of the user's own is worth more than that.
        """
        former, target = self._place.former, self._place.target
        steps = []
        text = None if former is None else former.comment
        mode = self._release.mode
        if mode is Mode.TABLE or (mode is Mode.REPLACE and text is None):
            text = RELEASE_COMMENT
        if text is not None or not self._place.temporary:  # a staged table carries a mark
            steps.append(self._text(template, table=target, text=text))
        if former is None:
            return steps
        for column, text in _column_comments(former, self.released_names):
            steps.append(self._text(_COMMENT_COLUMN, table=target, column=column, text=text))
        return steps

    def _pretty(self, query: exp.Expr) -> Sql:
        text = statement_text(query, self._dialect)
        if "\0" in text:
            raise PublishError("the SQL contains a NUL character, which has no safe spelling")
        return Sql(text)

    def _text(self, template: str, **context: object) -> str:
        return render_text(template, dialect=self._dialect, **context)


def _column_comments(former: TableDetails, names: Sequence[str]) -> list[tuple[str, str]]:
    comments = {column.name: column.comment for column in former.columns}
    return [(name, text) for name in names if (text := comments.get(name)) is not None]
