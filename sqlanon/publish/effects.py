"""What a publish changes besides the rows: types, keys, views, and what stays readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.compile import compile_release
from sqlanon.engines import ColumnInfo, PublishingEngine, TableDetails
from sqlanon.errors import EngineError
from sqlanon.model import Mode, counted
from sqlanon.publish.place import find_place, stage_name
from sqlanon.publish.release import Release


@dataclass(frozen=True)
class TypeChange:
    """A column that is not what it was; `before` is None for a new one, `after` for a lost one."""

    column: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.column}: new, {self.after}"
        if self.after is None:
            return f"{self.column}: {self.before}, removed"
        return f"{self.column}: {self.before} becomes {self.after}"


def type_changes(engine: PublishingEngine, release: Release) -> list[TypeChange]:
    """The columns of the source that the release changes, and those that it adds."""
    source = {info.name: info.type for info in engine.columns(release.recipe.source)}
    after = {info.name: info.type for info in released_columns(engine, release)}
    changes = [
        TypeChange(name, type_, after.get(name))
        for name, type_ in source.items()
        if after.get(name) != type_
    ]
    new = [TypeChange(name, None, type_) for name, type_ in after.items() if name not in source]
    return changes + new


def released_columns(engine: PublishingEngine, release: Release) -> tuple[ColumnInfo, ...]:
    """The columns that the release will have, without building it."""
    guarded = release.mode is Mode.VIEW
    select = compile_release(release.recipe, guarded=guarded).select
    # A parameter has no type until it has a value, and any text has the right one.
    without_keys = select.transform(
        lambda node: exp.Literal.string("") if isinstance(node, exp.Placeholder) else node
    )
    return engine.columns(
        exp.Subquery(this=without_keys, alias=exp.TableAlias(this=exp.to_identifier("released")))
    )


def losses(former: TableDetails | None, released: Sequence[str]) -> list[str]:
    """What a table had and its replacement has not, besides rows and columns."""
    if former is None or former.is_view:
        return []
    lost = [f"the constraint {text} is gone" for text in former.constraints]
    lost += [f"the index {name!r} is gone" for name in former.indexes]
    for column in former.columns:
        if column.is_generated:
            what = "holds plain values now" if column.name in released else "is gone"
            lost.append(f"the generated column {column.name!r} {what}")
        elif column.default is not None and column.name in released:
            lost.append(f"the default {column.default} of column {column.name!r} is gone")
    return lost


def foreseen(engine: PublishingEngine, release: Release) -> list[str]:
    """What a release in place of its source takes away, and the views that read the table."""
    place = find_place(engine, release, stage_name())
    rows = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(place.source.copy())
    (found,) = engine.fetch(rows).to_pylist()
    former = place.former
    lost = [f"the original {counted(found['n'], 'row')} will be gone"]
    lost += losses(former, release.recipe.released_names)
    return lost + [
        f"the view {_spelled(view)!r} reads the table: it shows the release then, or no longer "
        "works if it needs what is gone"
        for view in working_views(engine, former)
    ]


def working_views(engine: PublishingEngine, former: TableDetails | None) -> list[exp.Table]:
    """The views that name the table and can be read at the moment."""
    views = former.views if former is not None else ()
    return [view for view in views if _works(engine, view)]


def _works(engine: PublishingEngine, view: exp.Table) -> bool:
    try:
        engine.columns(view)
    except EngineError:
        return False
    return True


def view_effects(engine: PublishingEngine, views: Sequence[exp.Table]) -> list[str]:
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


def remaining(release: Release, file: Path | None, replaced: bool) -> list[str]:
    """Where former rows can still be read after a publish; `file` holds the target's database."""
    if not replaced or release.mode is Mode.VIEW:
        return []
    whose = "of the source" if release.mode is Mode.REPLACE else "of the former release"
    texts = []
    if file is not None:
        texts = [
            f"rows {whose} can be read from the unused space of {file} until it is rewritten",
            f"rows {whose} may be in {_log_of(file)} until the next checkpoint",
        ]
    return [*texts, f"rows {whose} are in every backup and copy of the database"]


def without_logs(remains: Sequence[str], files: Sequence[Path]) -> tuple[str, ...]:
    """The same once the databases in `files` are closed, and their logs gone with that."""
    gone = [str(log) for log in map(_log_of, files) if not log.exists()]
    return tuple(text for text in remains if not any(f" {log} " in text for log in gone))


def _log_of(file: Path) -> Path:
    return Path(f"{file}.wal")
