"""Publishing a release: compile, stage, verify, certify, swap, all in one transaction."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.audit import Facts, table_hash
from sqlanon.counting import Origin, address_in, folders_of
from sqlanon.domain import Mode, Scheme
from sqlanon.engines import (
    UNCHANGED,
    ColumnInfo,
    Connection,
    Engine,
    Opened,
    Source,
    database_path,
    engine_class,
    open_engine,
    open_for_publishing,
    open_source,
    spelled,
    transaction,
)
from sqlanon.errors import EngineError, PolicyError, PublishError, UnknownOutcomeError
from sqlanon.files import PrivateFolder
from sqlanon.policy import Policy
from sqlanon.release.certificate import Certificate, EarlierEntry
from sqlanon.release.certify import certify, suppressed_rows
from sqlanon.release.export import Export, is_marked, rewrite_database, written_file
from sqlanon.release.lists import filled, with_shown_groups
from sqlanon.release.order import (
    Order,
    order_to_publish,
    refuse_homogeneity,
    refuse_impossible,
    refuse_smaller_k,
)
from sqlanon.release.pending import (
    Files,
    file_holds,
    finish_certificates,
    is_released_file,
    remove_leftovers,
    table_holds,
    write_certificate,
)
from sqlanon.release.plan import (
    ReleasePlan,
    losses,
    make_plan,
    released_columns,
    remaining,
    view_effects,
    without_logs,
    working_views,
)
from sqlanon.release.stage import (
    Stages,
    build_stage,
    count_source,
    strict_columns,
    verify,
)
from sqlanon.wording import brief_list, counted

if TYPE_CHECKING:
    import pandas as pd

IN_MEMORY = "release"
"""The table of a release that goes nowhere: data in this process, made for this process."""


@dataclass(frozen=True, repr=False)
class Release:
    """A published release and its certificate.

    `files` are those of the certificate, empty where none were written: for a policy that is
    no file, and inside a transaction of the caller, who calls `write_certificate` after its
    commit.

    target      the name of the released table or view, or the path of the file
    rows        rows of the release
    left_out    rows of the source that it does not hold
    unseen      by generalized column the rows whose value belonged to no group
    facts       what was counted on it before it was published
    table_hash  of its rows; of a CSV file, of the table of its texts
    columns     those of the release
    statements  what was run to build it, in order, keys as parameters
    lost        what a replaced table had besides rows, and what became of its views
    remains     where former rows can still be read
    removed     leftovers of killed runs that were removed before
    notes       what became of certificates that a killed run had left
    seconds     by stage
    """

    target: str
    mode: Mode
    rows: int
    left_out: int
    unseen: Mapping[str, int]
    facts: Facts
    certificate: Certificate
    files: tuple[Path, ...]
    table_hash: str
    columns: tuple[ColumnInfo, ...]
    statements: tuple[str, ...]
    _read: Callable[[], pa.Table] = field(compare=False)
    _write: Callable[[Path], tuple[Path, ...]] = field(compare=False)
    lost: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def k(self) -> int:
        """People in its smallest class, counted on the release itself."""
        return self.facts.audited.k

    @property
    def warnings(self) -> tuple[str, ...]:
        """Remarks of the verification, what became of a replaced table, and what a killed run
        had left."""
        return (*self.facts.warnings, *self.lost, *self.notes)

    def write_certificate(self, folder: str | Path) -> tuple[Path, ...]:
        """Writes the certificate's files into a folder, and answers with their paths.

        They replace those of the former release of the same target, which becomes the first
        of its prior releases. After a publish inside your own transaction call it once that
        is committed.
        """
        return self._write(Path(folder))

    def to_arrow(self) -> pa.Table:
        """The released rows."""
        return self._read()

    def to_pandas(self) -> pd.DataFrame:
        """The released rows."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_dict(self) -> dict[str, Any]:
        """For JSON: what was published, and the internal certificate."""
        return {
            "target": self.target,
            "mode": str(self.mode),
            "rows": self.rows,
            "left_out": self.left_out,
            "k": self.k,
            "hash": self.table_hash,
            "files": [str(path) for path in self.files],
            "warnings": list(self.warnings),
            "remains": list(self.remains),
            "removed": list(self.removed),
            "certificate": self.certificate.to_dict(),
        }

    def __repr__(self) -> str:
        target, rows = brief_list([self.target], width=100), counted(self.rows, "row")
        return f"<Release {target}: {rows}, {self.left_out:,} left out, k = {self.k}>"

    def __str__(self) -> str:
        lines = [self.certificate.document.words.summary]
        lines.append(f"{counted(self.rows, 'row')} in {self.target}, {self.left_out:,} left out")
        lines += [f"note: {warning}" for warning in self.warnings]
        lines += [f"remains: {text}" for text in self.remains]
        lines += [f"wrote {path}" for path in self.files]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return "<br>".join(html.escape(line) for line in str(self).splitlines())


def publish(
    order: Order,
    engine: Engine,
    watch: Stages | None = None,
    *,
    folder: Path | None = None,
    replace_file: bool = False,
) -> Release:
    """Builds, verifies, certifies and publishes a release, and reports each stage to `watch`.

    The certificate goes into `folder` where one is given. A file that sqlanon did not make is
    replaced with `replace_file` only.

    Until the last moment no other connection sees any of it, and a process that is killed leaves
    source and former release as they were. On a connection inside a transaction of the caller,
    that transaction is used and left open; the release is there once the caller commits it.

    Raises UncoveredValueError (values that belong to no group), VerificationError (the staged
    table is not what it must be) or PublishError (anything else); nothing has changed then. Where
    the answer to COMMIT is lost, UnknownOutcomeError says so, and the certificate stays for the
    next run.
    """
    watch, kept = watch or Stages(), None
    refuse_impossible(order)
    stem = order.stem(engine.can.default_schema)
    watch.enter("preparing")
    removed = remove_leftovers(engine, [] if order.file is None else [_folder_of(order.file)])
    with ExitStack() as private:
        with _left_where_unknown(lambda: kept), transaction(engine) as lent:
            plan = make_plan(engine, order)
            if plan.is_in_place:  # its columns are in the order that they will have
                order = replace(order, items=plan.order.items, roles=plan.order.roles)
            files, earlier, notes = _prepare(engine, plan, folder, stem, replace_file=replace_file)
            with (
                _stage_dropped_on_failure(engine, plan, lent=lent),
                filled(engine, plan.lists),
            ):
                source = count_source(engine, plan, watch)
                staged = build_stage(engine, plan, source, watch)
                facts = verify(engine, plan, source, staged, watch)
                rows = facts.audited.rows
                export = None if order.file is None else Export(engine, staged, plan)
                watch.enter("certifying", f"{rows:,} rows verified")
                if export is not None:
                    facts = replace(facts, hash=export.hash(facts))
                    watch.enter("writing", f"{rows:,} rows")
                    export.write(private.enter_context(PrivateFolder(export.file.parent)))
                    watch.enter("reading back")
                    export.check(facts)
                suppressed = suppressed_rows(engine, plan, facts)
                if plan.guarded:
                    shown_order = with_shown_groups(plan.order, engine, plan.stage)
                    plan = replace(plan, order=shown_order)
                certificate = Certificate(
                    certify(order, plan, source, facts, suppressed, earlier, engine.versions)
                )
                if files is not None:
                    kept = private.enter_context(files.private())
                    files.write(certificate, kept.path)
                watch.enter("swapping", f"{rows:,} rows")
                swapped = _swap(engine, plan, staged, facts, export)
            watch.enter("leaving open" if lent else "committing")
        paths: tuple[Path, ...] = ()
        if files is not None and kept is not None:
            paths = files.finish(kept.path, plan.target_name)
    if files is not None:
        # Only now can what a killed run left of a former view be distinguished from its own.
        _finish_certificates(engine, plan, files.folder)
    watch.enter("published", f"{rows:,} rows")
    watch.finish()
    return Release(
        target=plan.target_name,
        mode=order.mode,
        rows=rows,
        left_out=facts.left_out,
        unseen=source.unseen,
        facts=facts,
        certificate=certificate,
        files=paths,
        table_hash=facts.hash,
        columns=swapped.columns,
        statements=(*plan.opening, *swapped.statements, *plan.drop_lists),
        lost=swapped.lost,
        remains=swapped.remains,
        removed=tuple(removed),
        notes=notes,
        seconds=dict(watch.seconds),
        _read=_reader(order, engine),
        _write=partial(write_certificate, certificate.document, stem),
    )


def statements(order: Order, engine: Engine) -> list[str]:
    """The statements of a publish in their order, without running them.

    The staged table gets a random name when they are run, and the file a private one. Keys
    stand as parameters. Between the COMMENT on the staged table and what follows it is verified.
    """
    plan = make_plan(engine, order, "sqlanon_stage")
    if order.file is not None:
        columns = released_columns(engine, order)
        export = Export(engine, Source(engine, plan.stage, "the staged table", columns), plan)
        closing = [export.statement(order.file), plan.drop_stage]
    else:
        columns = released_columns(engine, order) if plan.former is not None else ()
        closing = [*plan.lock, *plan.swap(plan.was_not_null(), columns)]
    return [engine.can.begin, *plan.opening, *closing, *plan.drop_lists, "COMMIT"]


def _folder_of(file: Path) -> Path:
    folder = file.resolve().parent
    if not folder.is_dir():
        raise PublishError(f"file {file} cannot be written: there is no folder {file.parent}")
    return folder


def _prepare(
    engine: Engine, plan: ReleasePlan, folder: Path | None, stem: str, *, replace_file: bool
) -> tuple[Files | None, tuple[EarlierEntry, ...], tuple[str, ...]]:
    """The files of the certificate, the releases before this one, and what killed runs left."""
    files = None if folder is None else Files(folder, stem)
    notes = () if folder is None else _finish_certificates(engine, plan, folder)
    if not replace_file:
        _refuse_other_file(plan, folder)
    return files, () if files is None else files.prepare(plan.target_name), notes


def _finish_certificates(engine: Engine, plan: ReleasePlan, folder: Path) -> tuple[str, ...]:
    """Puts right what a run left that was killed between a release and its certificate."""
    return tuple(finish_certificates(folder, plan.target_name, partial(_holds, engine, plan)))


def _holds(engine: Engine, plan: ReleasePlan, certificate: Certificate) -> str | None:
    """The hash of what the target holds now."""
    if plan.order.file is not None:
        with _reading(plan.order.file) as reader:
            return file_holds(reader, plan.order.file, certificate)
    assert plan.target is not None
    if engine.details(plan.target) is None:  # a statement that failed would end the transaction
        return None
    return table_holds(engine, plan.target, certificate)


@contextmanager
def _reading(file: Path) -> Iterator[Engine]:
    """An engine for a file of others: an error on reading it would end the transaction."""
    with closing(open_engine(None, folders=[file.resolve().parent])) as engine:
        yield engine


def _refuse_other_file(plan: ReleasePlan, folder: Path | None) -> None:
    """Refuses to overwrite a file that sqlanon did not write."""
    file = plan.order.file
    if file is None or not file.exists():
        return
    folders = [*([] if folder is None else [folder]), file.parent]
    with _reading(file) as reader:
        if is_marked(reader, file) or is_released_file(reader, file, folders):
            return
    raise PublishError(
        f"file {file} exists, and there is no certificate that tells that sqlanon made it as "
        "it is; move it away, take another name, or have it replaced with --yes "
        "(replace_file=True in Python)"
    )


@contextmanager
def _left_where_unknown(kept: Callable[[], PrivateFolder | None]) -> Iterator[None]:
    """The next run settles a certificate where it is not known whether its release is out."""
    try:
        yield
    except UnknownOutcomeError:
        if folder := kept():
            folder.leave()
        raise


@contextmanager
def _stage_dropped_on_failure(engine: Engine, plan: ReleasePlan, *, lent: bool) -> Iterator[None]:
    """The transaction of a caller goes on without our table; our own is rolled back anyway."""
    try:
        yield
    except BaseException:
        # A statement that failed while it ran has ended the transaction, and the table with it.
        with suppress(EngineError):
            if lent and engine.details(plan.stage) is not None:
                engine.run(plan.drop_stage)
        raise


@dataclass(frozen=True)
class _Swapped:
    """What the last statements were, and what they changed."""

    columns: tuple[ColumnInfo, ...]
    statements: tuple[str, ...]
    lost: tuple[str, ...] = ()
    remains: tuple[str, ...] = ()


def _swap(
    engine: Engine, plan: ReleasePlan, staged: Source, facts: Facts, export: Export | None
) -> _Swapped:
    """Puts the verified rows in their place."""
    released = tuple(info for info in staged.columns if info.name in plan.released_names)
    if export is not None:
        engine.run(plan.drop_stage)
        export.finish()
        return _Swapped(released, (export.statement(export.file), plan.drop_stage))
    assert plan.target is not None
    for statement in plan.lock:
        engine.run(statement)
    if plan.former is not None and engine.can.locks and plan.order.mode is Mode.REPLACE:
        engine.refuse_changed(plan.former)
    if plan.is_in_place and not facts.audited.rows:
        raise PublishError(
            f"the release of {plan.target_name} has no rows, and statistics of the former ones "
            "would stay with an emptied table; drop what is bound to it, or publish to another name"
        )
    steps = plan.swap(strict_columns(engine, plan), released)
    views = working_views(engine, plan.former)
    file = engine.file_of(plan.target)
    logs = () if file is None else engine.logs_of(file)
    remains = remaining(plan.order, plan.former is not None, file, logs, vacuums=engine.can.vacuums)
    for statement in steps:
        engine.run(statement)
    columns = engine.columns(plan.target)
    target = Source(engine, plan.target, "the release", columns)
    if plan.temporary:
        hashed = table_hash(target, plan.released_names, grouped=facts.rows_repeat)
        if hashed != facts.hash:
            raise EngineError("What was published differs from what was verified.")
    lost = losses(plan, released)
    lost += view_effects(engine, views)
    return _Swapped(columns, (*plan.lock, *steps), tuple(lost), tuple(remains))


def _reader(order: Order, engine: Engine) -> Callable[[], pa.Table]:
    """How the released rows are read when a program asks for them later."""
    if order.file is not None:
        return partial(released_rows, file=order.file)
    target = order.target or order.source
    assert isinstance(target, exp.Table)
    if order.connection is None:
        return partial(engine.fetch, exp.select("*").from_(target.copy()))
    if isinstance(order.connection, str):  # there the database has a name of its own
        target = exp.table_(target.name, target.args.get("db"), quoted=True)
    return partial(released_rows, connection=order.connection, table=spelled(target))


@contextmanager
def opened_order(
    policy: Policy, origin: Origin, scheme: Scheme, *, read_only: bool = False
) -> Iterator[tuple[Order, Engine]]:
    """The order of a policy and a scheme, and the databases, open for writing until the end.

    With `read_only` they are not, and only statements and types can be asked for.
    """
    opened = open_to_publish(policy, origin, read_only=read_only)
    try:
        source = open_released_source(policy, origin, opened)
        section = policy.section.publish
        target = None
        if section.file is None and section.mode is not Mode.REPLACE:
            target = opened.table(section.to or IN_MEMORY)
        connection = origin.connection or release_address(policy, origin)
        order = order_to_publish(policy, source, scheme, target, connection)
        if not read_only:
            refuse_homogeneity(policy)
            refuse_smaller_k(policy, scheme)
        yield order, opened.engine
    finally:
        opened.engine.close()


def certificate_folder(
    engine: Engine, wanted: str | Path | None, usual: Path | None
) -> Path | None:
    """Where the certificate goes; None where it goes nowhere yet."""
    if engine.owned or not engine.in_transaction():
        return usual if wanted is None else Path(wanted)
    if wanted is not None:
        raise PublishError(
            f"the certificate cannot be written to {wanted} before your transaction is "
            "committed; publish without a folder for certificates, and call "
            "release.write_certificate(folder) after the commit"
        )
    return None


def closed(
    release: Release, order: Order, engine: Engine, to_rewrite: str | None, memory: str | None
) -> Release:
    """The release once its database is closed, and freed of dropped rows where its address is
    given: a server vacuums, a file is written anew.

    Logs that are gone then are no longer mentioned; a caller's database stays open.
    """
    if to_rewrite is not None and engine.can.vacuums:
        with _still_published(release, "values of dropped rows may remain"):
            engine.vacuum(engine.table(release.target))
        to_rewrite, dropped = None, remaining(order, bool(release.remains))
        release = replace(release, remains=tuple(dropped))
    files = engine.database_files() if engine.owned and release.remains else ()
    if order.file is None and order.connection is None:  # a table in memory goes with its engine
        rows = release.to_arrow()
        release = replace(release, _read=lambda: rows)
    engine.close()
    if to_rewrite is None:
        logs = [log for file in files for log in engine.logs_of(file)]
        return replace(release, remains=without_logs(release.remains, logs))
    file = database_path(to_rewrite)
    assert file is not None
    not_done = f"{file} could not be rewritten and still holds dropped rows"
    with _still_published(release, not_done):
        rewrite_database(file, to_rewrite, memory=memory)
    remains = remaining(order, bool(release.remains))
    return replace(release, remains=tuple(remains))


@contextmanager
def _still_published(release: Release, not_done: str) -> Iterator[None]:
    """Says of a failure after the commit that the release is there all the same."""
    try:
        yield
    except (EngineError, PublishError) as error:
        # Not a PublishError, which says that source and target are as they were.
        reason = str(error).removesuffix(UNCHANGED).strip()
        raise EngineError(
            f"The release was published as {release.target}, but {not_done}: {reason}"
        ) from error


def release_address(policy: Policy, origin: Origin) -> str | None:
    """The address of the database that holds the release; None where only this process has it."""
    other = address_in(policy, policy.publish_connection())
    if other is not None or not origin.is_the_policys:
        return other
    return address_in(policy, policy.source_connection())


def address_to_rewrite(policy: Policy, origin: Origin) -> str:
    """The address of the release's database: a server that vacuums, or a file to write anew."""
    address = release_address(policy, origin)
    is_there = address is not None and (
        engine_class(address).can.vacuums or database_path(address) is not None
    )
    if address is None or not is_there or policy.section.publish.file is not None:
        raise PublishError(
            "only a database that sqlanon opens itself by its address can be rewritten; this "
            "release is not in one"
        )
    engine = engine_class(address)
    if not (engine.can.rewrites or engine.can.vacuums):
        raise PublishError(
            f"sqlanon cannot rewrite a database of {engine.dialect}: publish without --rewrite "
            "(rewrite=True in Python), and have the database itself free its unused space. "
            f"{UNCHANGED}"
        )
    return address


def open_to_publish(policy: Policy, origin: Origin, *, read_only: bool = False) -> Opened:
    """The engine that reads the source and, unless `read_only`, writes the release."""
    section = policy.section.publish
    nowhere = section.to is None and section.file is None and section.mode is not Mode.REPLACE
    if nowhere and origin.data is None:
        raise PolicyError(
            f"{policy.origin}: publish: says no place for the release; give `to` (a table), "
            "`file` (.csv or .parquet), or `mode: replace`"
        )
    if nowhere:
        return Opened(open_engine(None, folders=folders_of(policy), memory=policy.section.memory))
    source: str | Connection | None = origin.connection
    if origin.connection is None and origin.data is None:
        source = address_in(policy, policy.source_connection())
    return open_for_publishing(
        source,
        target=address_in(policy, policy.publish_connection()),
        file=None if section.file is None else policy.folder / section.file,
        read_only=read_only,
        folders=folders_of(policy),
        memory=policy.section.memory,
    )


def open_released_source(policy: Policy, origin: Origin, opened: Opened) -> Source:
    if origin.data is not None:
        return opened.engine.source(data=origin.data)
    section = policy.section.source
    file = None if section.file is None else policy.folder / section.file
    return opened.engine.source(table=section.table, query=section.query, file=file)


def released_rows(**place: Any) -> pa.Table:
    """All rows of a table or file."""
    source = open_source(**place)
    try:
        relation = source.relation
        file = place.get("file")
        if file is not None and file.suffix.lower() == ".csv":
            # As text: a guess at types would not tell an empty text from NULL.
            relation = written_file(file, tuple(info.name for info in source.columns))
        return source.engine.fetch(exp.select("*").from_(relation))
    finally:
        source.engine.close()
