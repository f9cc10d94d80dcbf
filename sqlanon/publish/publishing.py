"""Publishing a release: stage, verify, swap, all in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.engines import (
    ColumnInfo,
    PrivateFolder,
    PublishingEngine,
    finish_file,
)
from sqlanon.errors import EngineError, PublishError
from sqlanon.model import Mode, brief_list, counted
from sqlanon.publish import effects
from sqlanon.publish.export import Export
from sqlanon.publish.leftovers import remove_leftovers
from sqlanon.publish.place import Place, find_place, stage_name
from sqlanon.publish.release import Release
from sqlanon.publish.script import Script
from sqlanon.publish.stage import Staged, build_stage, columns_without_null
from sqlanon.publish.stages import Stages
from sqlanon.publish.transaction import transaction
from sqlanon.verify import Verification, table_hash


@dataclass(frozen=True, repr=False)
class Published:
    """A release that is out.

    target      its full name, or the path of its file
    left_out    rows of the source that it does not hold
    unseen      by generalized column the rows whose value belonged to no group
    table_hash  of its rows; of a CSV file, of the table of its texts
    statements  what was run to build it, in order, keys as parameters
    lost        what a replaced table had besides rows, and what became of its views
    remains     where former rows can still be read
    removed     leftovers of killed runs that were removed before
    seconds     by stage
    """

    target: str
    mode: Mode
    verification: Verification
    source_rows: int
    rows: int
    left_out: int
    unseen: Mapping[str, int]
    table_hash: str
    columns: tuple[ColumnInfo, ...]
    statements: tuple[str, ...]
    lost: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        target, rows = brief_list([self.target], width=100), counted(self.rows, "row")
        return f"<Published {self.mode} {target}: {rows}, {self.left_out:,} left out, k = {self.k}>"

    @property
    def k(self) -> int:
        """People in the smallest class, counted on the release."""
        return 0 if self.verification.audit is None else self.verification.audit.k


def publish(
    engine: PublishingEngine,
    release: Release,
    *,
    on_stage: Callable[[str], None] | None = None,
    inspect: Callable[[exp.Table, Published], None] | None = None,
) -> Published:
    """Builds, verifies and publishes a release; `on_stage` hears the name of each stage.

    `inspect` may look at the staged table once it is verified, while the source is still there,
    and at what will be published. Whatever it raises stops the publish.

    Until the last moment nobody else sees any of it, and a process that is killed leaves source
    and former release as they were. On a connection inside a transaction of the caller, that
    transaction is used and left open; the release is there once the caller commits it.

    Raises UncoveredValueError (values that belong to no group), VerificationError (the staged
    table is not what it must be) or PublishError (anything else); nothing has changed then.
    """
    return _Publishing(engine, release, Stages(on_stage), inspect).publish()


def target_name(engine: PublishingEngine, release: Release) -> str:
    """What `Published.target` of a release will be."""
    if release.file is not None:
        return str(release.file.resolve())
    target = find_place(engine, release, "sqlanon_stage").target
    assert target is not None
    return _spelled(target)


def statements(engine: PublishingEngine, release: Release) -> list[str]:
    """The statements of a publish in their order, without running them.

    The staged table gets a random name when they are run, and the file a private one. Keys
    stand as parameters. Between the COMMENT on the staged table and what follows it is verified.
    """
    place = find_place(engine, release, "sqlanon_stage")
    script = Script(release, place, engine.dialect)
    if release.file is not None:
        export = Export(engine, place.stage, script.released_names)
        columns = effects.released_columns(engine, release)
        closing = [export.statement(release.file, columns), script.drop_stage]
    else:
        closing = script.swap(script.was_not_null())
    return ["BEGIN TRANSACTION", *script.opening, *closing, "COMMIT"]


class _Publishing:
    def __init__(
        self,
        engine: PublishingEngine,
        release: Release,
        stages: Stages,
        inspect: Callable[[exp.Table, Published], None] | None,
    ) -> None:
        self._engine, self._release, self._stages = engine, release, stages
        self._inspect = inspect
        self._file = None if release.file is None else release.file.resolve()

    def publish(self) -> Published:
        self._stages.enter("preparing")
        folders = [] if self._file is None else [_folder_of(self._file)]
        removed = remove_leftovers(self._engine, folders)
        with transaction(self._engine) as lent:
            place = find_place(self._engine, self._release, stage_name())
            script = Script(self._release, place, self._engine.dialect)
            try:
                published = self._build(place, script)
            except BaseException:
                if lent:  # the caller's transaction goes on without our table
                    self._drop_stage(place, script)
                raise
            self._stages.enter("leaving open" if lent else "committing")
        self._stages.enter("published", f"{published.rows:,} rows")
        self._stages.finish()
        return replace(published, removed=tuple(removed), seconds=dict(self._stages.seconds))

    def _build(self, place: Place, script: Script) -> Published:
        for statement in script.hold_off:
            self._engine.run(statement)
        staged = build_stage(self._engine, self._release, place, script, self._stages)
        if self._file is not None:
            return self._export(place, script, staged, self._file)
        return self._swap(place, script, staged)

    def _swap(self, place: Place, script: Script, staged: Staged) -> Published:
        engine, target, former = self._engine, place.target, place.former
        assert target is not None
        strict = columns_without_null(engine, place.stage, script.was_not_null())
        views = effects.working_views(engine, former)
        steps = script.swap(strict)
        published = self._published(
            staged,
            target=_spelled(target),
            hash_=staged.hash,
            columns=_released(engine, place, script),
            statements=(*script.opening, *steps),
            remains=tuple(
                effects.remaining(self._release, engine.file_of(target), former is not None)
            ),
        )
        if self._inspect is not None:
            self._inspect(place.stage, published)
        self._stages.enter("swapping", f"{staged.rows:,} rows")
        for statement in steps:
            engine.run(statement)
        if place.temporary and table_hash(engine, target, script.released_names) != staged.hash:
            raise EngineError("What was published differs from what was verified.")
        lost = [*effects.losses(former, script.released_names)]
        lost += effects.view_effects(engine, views)
        return replace(published, columns=engine.columns(target), lost=tuple(lost))

    def _export(self, place: Place, script: Script, staged: Staged, file: Path) -> Published:
        engine = self._engine
        export = Export(engine, place.stage, script.released_names)
        columns = _released(engine, place, script)
        with PrivateFolder(file.parent) as private:
            self._stages.enter("writing", f"{staged.rows:,} rows")
            path = private.path / f"release{file.suffix}"
            wanted = export.hash(path, staged.hash)
            engine.run(export.statement(path, columns))
            self._stages.enter("reading back")
            export.check(path, wanted, staged.verification)
            published = self._published(
                staged,
                target=str(file),
                hash_=wanted,
                columns=columns,
                statements=(*script.opening, export.statement(file, columns), script.drop_stage),
            )
            if self._inspect is not None:
                self._inspect(place.stage, published)
            engine.run(script.drop_stage)
            self._stages.enter("swapping", f"{staged.rows:,} rows")
            finish_file(path, file)
        return published

    def _published(
        self,
        staged: Staged,
        *,
        target: str,
        hash_: str,
        columns: tuple[ColumnInfo, ...],
        statements: tuple[str, ...],
        remains: tuple[str, ...] = (),
    ) -> Published:
        return Published(
            target=target,
            mode=self._release.mode,
            verification=staged.verification,
            source_rows=staged.source_rows,
            rows=staged.rows,
            left_out=staged.verification.left_out,
            unseen=staged.unseen,
            table_hash=hash_,
            columns=columns,
            statements=statements,
            remains=remains,
        )

    def _drop_stage(self, place: Place, script: Script) -> None:
        # A statement that failed while it ran has ended the transaction, and the table with it.
        with suppress(EngineError):
            if self._engine.details(place.stage) is not None:
                self._engine.run(script.drop_stage)


def _released(engine: PublishingEngine, place: Place, script: Script) -> tuple[ColumnInfo, ...]:
    """The columns of the staged table that are released."""
    return tuple(c for c in engine.columns(place.stage) if c.name in script.released_names)


def _folder_of(file: Path) -> Path:
    if not file.parent.is_dir():
        raise PublishError(f"file {file} cannot be written: there is no folder {file.parent}")
    return file.parent


def _spelled(table: exp.Table) -> str:
    """The full name, with quotes where it needs them."""
    parts = (table.catalog, table.db, table.name)
    return ".".join(exp.to_identifier(part).sql("duckdb") for part in parts if part)
