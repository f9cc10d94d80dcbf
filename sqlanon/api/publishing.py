"""Publishing a scheme: from the policy's words to a release with its certificate."""

from __future__ import annotations

import datetime as dt
import platform
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlanon.api.bind import Origin, telling_of_no_rows
from sqlanon.api.certificate_files import Files, stem_of, write_certificate
from sqlanon.api.facts import Account, facts_of
from sqlanon.api.homogeneity import homogeneity_of, refuse_homogeneity
from sqlanon.api.places import (
    open_released_source,
    open_to_publish,
    release_address,
    released_rows,
    spelled,
)
from sqlanon.api.published import Release
from sqlanon.api.release import (
    header_of,
    key_parameter,
    recipe_to_publish,
    refuse_smaller_k,
    shown,
)
from sqlanon.api.tallies import Tallies, tally
from sqlanon.api.unfinished import (
    file_holds,
    finish_certificates,
    is_released_file,
    table_holds,
)
from sqlanon.certificate import Certificate, Facts, Prior
from sqlanon.compile import Recipe, release_text
from sqlanon.errors import EngineError, PublishError
from sqlanon.model import Mode
from sqlanon.policy import Policy, Role
from sqlanon.publish import (
    Checks,
    Published,
    publish,
    rewrite_database,
    statements,
    type_changes,
)
from sqlanon.publish import Release as Order
from sqlanon.publish.effects import foreseen, remaining, without_logs
from sqlanon.publish.export import is_marked
from sqlanon.publish.place import find_place, stage_name
from sqlanon.publish.publishing import target_name
from sqlanon.publish.transaction import UNCHANGED
from sqlanon.scheme import Scheme

IN_MEMORY = "release"
"""The table of a release that goes nowhere: data in this process, made for this process."""


class Publisher:
    """A scheme on its way out. The database is open for writing until `close`.

    With `read_only` it is not, and only statements and types can be asked for.
    """

    def __init__(
        self, policy: Policy, origin: Origin, scheme: Scheme, *, read_only: bool = False
    ) -> None:
        self.policy, self.origin, self.scheme = policy, origin, scheme
        self.opened = open_to_publish(policy, origin, read_only=read_only)
        try:
            self.source = open_released_source(policy, origin, self.opened)
            self.recipe = recipe_to_publish(policy, self.source, scheme)
            self.order = self._order()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.opened.engine.close()

    def _order(self) -> Order:
        policy, section = self.policy, self.policy.section
        bare = homogeneity_of(policy)
        file = None if section.publish.file is None else policy.folder / section.publish.file
        target = None
        if file is None and section.publish.mode is not Mode.REPLACE:
            target = self.opened.table(section.publish.to or IN_MEMORY)
        return Order(
            recipe=self.recipe,
            checks=Checks(
                limit=section.suppression.limit,
                verbatim=_reasons(policy, self.recipe),
                pseudonyms={n: c.stable for n, c in policy.columns_with(Role.PSEUDONYM).items()},
                sensitive=tuple(policy.columns_with(Role.SENSITIVE)),
                uncovered=bare.columns,
                homogeneity=bare.reason,
            ),
            mode=section.publish.mode,
            target=target,
            file=file,
            keys=_keys(policy),
        )

    def statements(self) -> list[str]:
        """What a publish would run."""
        return statements(self.opened.engine, self.order)

    def type_changes(self) -> list[str]:
        """How the released columns differ from the source's, a line each."""
        return [str(change) for change in type_changes(self.opened.engine, self.order)]

    def losses(self) -> list[str]:
        """The rows, keys, indexes and views that a release in place of its source takes away."""
        return foreseen(self.opened.engine, self.order)

    def publish(
        self,
        folder: Path | None,
        on_stage: Callable[[str], None] | None = None,
        *,
        replace_file: bool = False,
    ) -> Release:
        """Publishes, and writes the certificate into `folder` where one is given.

        The certificate is made, and its files are written under private names, before anything
        is put in place: a failure there stops the publish. A file that is no release of ours is
        replaced with `replace_file` only.
        """
        refuse_homogeneity(self.policy)
        refuse_smaller_k(self.policy, self.scheme)
        files = None if folder is None else Files(folder, self._stem())
        notes = () if files is None else self._finish_certificates(files.folder)
        if not replace_file:
            self._refuse_other_file(folder)
        prior = () if files is None else files.prepare(self._target)
        made: list[tuple[Facts, Certificate]] = []
        with ExitStack() as stack:
            private: list[Path] = []

            def inspect(stage: exp.Table, published: Published) -> None:
                facts = self._facts(published, self._tallies(stage, published), prior)
                certificate = Certificate.of(facts)
                made.append((facts, certificate))
                if files is not None:
                    private.append(stack.enter_context(files.private()).path)
                    files.write(certificate, private[0])

            engine = self.opened.engine
            with telling_of_no_rows(self.source):
                published = publish(engine, self.order, on_stage=on_stage, inspect=inspect)
            written = () if files is None else files.finish(private[0], published.target)
        if files is not None:
            # What a killed run left of a former view can be told from its own only now.
            self._finish_certificates(files.folder)
        facts, certificate = made[0]
        writer = partial(write_certificate, facts, self._stem())
        return Release(published, certificate, written, self._reader(), writer, notes)

    def _finish_certificates(self, folder: Path) -> tuple[str, ...]:
        """Puts right what a run left that was killed between a release and its certificate."""
        engine, file = self.opened.engine, self.order.file
        table = self.order.target or self.recipe.source

        def holds(columns: Sequence[str]) -> str | None:
            if file is not None:
                return file_holds(engine, file, columns)
            return table_holds(engine, table, columns)

        return tuple(finish_certificates(folder, self._target, holds))

    def _refuse_other_file(self, folder: Path | None) -> None:
        """A file of somebody else stays, as a table does that has not our comment."""
        file = self.order.file
        if file is None or not file.exists():
            return
        engine = self.opened.engine
        find_place(engine, self.order, stage_name())  # refuses the source itself, in better words
        folders = [*([] if folder is None else [folder]), file.parent]
        if is_marked(engine, file) or is_released_file(engine, file, folders):
            return
        raise PublishError(
            f"file {file} exists, and there is no certificate that tells that sqlanon made it as "
            "it is; move it away, take another name, or have it replaced with --yes "
            "(replace_file=True in Python)"
        )

    def folder_for(self, wanted: str | Path | None, usual: Path | None) -> Path | None:
        """Where the certificate goes; None where it goes nowhere yet."""
        if self.origin.connection is None or not self.opened.engine.in_transaction():
            return usual if wanted is None else Path(wanted)
        if wanted is not None:
            raise PublishError(
                f"the certificate cannot be written to {wanted} before your transaction is "
                "committed; publish without a folder for certificates, and call "
                "release.write_certificate(folder) after the commit"
            )
        return None

    def finish(self, release: Release, file: Path | None) -> Release:
        """Closes the database of a release, and writes its `file` anew where one is given.

        What was said of a log that is gone then is taken back; a caller's database stays open.
        """
        files = self.opened.engine.database_files() if self.opened.engine.owned else ()
        self.close()
        if file is not None:
            return self._rewrite(file, release)
        return _remaining(release, without_logs(release.remains, files))

    def _rewrite(self, file: Path, release: Release) -> Release:
        try:
            rewrite_database(file)
        except (EngineError, PublishError) as error:
            # Not a PublishError, which says that source and target are as they were.
            reason = str(error).removesuffix(UNCHANGED).strip()
            raise EngineError(
                f"The release was published as {release.target}, but {file} could not be "
                f"rewritten and still holds dropped rows: {reason}"
            ) from error
        replaced = bool(release.remains)
        return _remaining(release, tuple(remaining(self.order, None, replaced)))

    def _target(self) -> str:
        return target_name(self.opened.engine, self.order)

    def _tallies(self, stage: exp.Table, published: Published) -> Tallies:
        recipe = self.recipe
        guarded = self.order.mode is Mode.VIEW
        missing = published.left_out > 0 or recipe.marker is not None
        any_suppressed = (recipe.suppress or guarded) and missing
        label = None if self.policy.label is None else self.source.column(self.policy.label)
        return tally(
            self.opened.engine,
            recipe,
            stage,
            any_suppressed=any_suppressed,
            guarded=guarded,
            label=label,
        )

    def _reader(self) -> Callable[[], pa.Table]:
        """How the released rows are read when a program asks for them later."""
        target = self.order.target or self.recipe.source
        if self.order.file is not None:
            return partial(released_rows, file=self.order.file)
        if self.origin.connection is not None:
            return partial(released_rows, connection=self.origin.connection, table=spelled(target))
        address = release_address(self.policy, self.origin)
        if address is None:  # a table in memory is gone with this engine
            rows = self.opened.engine.fetch(exp.select("*").from_(target.copy()))
            return lambda: rows
        local = exp.table_(target.name, target.args.get("db"), quoted=True)
        return partial(released_rows, connection=address, table=spelled(local))

    def _facts(self, published: Published, tallies: Tallies, prior: tuple[Prior, ...]) -> Facts:
        header = header_of(self.policy, self.source, self.scheme, published.k)
        guarded = published.mode is Mode.VIEW
        recipe = replace(shown(self.recipe), header=tuple(header))
        text = release_text(recipe, guarded=guarded)
        account = Account(
            release=secrets.token_hex(8),
            time=dt.datetime.now(dt.UTC),
            versions={
                "sqlanon": version("sqlanon"),
                "duckdb": duckdb.__version__,
                "python": platform.python_version(),
            },
            prior=prior,
            sql=text,
        )
        return facts_of(
            self.policy, self.source, self.scheme, self.recipe, published, tallies, account
        )

    def _stem(self) -> str:
        """What the certificate's files begin with: no two releases of a folder share it."""
        if self.order.file is not None:
            return self.order.file.name
        table = self.order.target or self.recipe.source
        schema = table.text("db")
        name = table.name if schema in ("", "main") else f"{schema}.{table.name}"
        return stem_of(name)


def _remaining(release: Release, remains: tuple[str, ...]) -> Release:
    return replace(release, published=replace(release.published, remains=remains))


def _reasons(policy: Policy, recipe: Recipe) -> dict[str, str | None]:
    """Why columns that are not generalized may go out as they are."""
    quasi = set(recipe.class_names)
    columns = policy.section.columns
    return {
        name: columns[name].accept if name in columns else None
        for name in recipe.released_names
        if name not in quasi
    }


def _keys(policy: Policy) -> dict[str, str]:
    """The keys of pseudonyms: the policy's where they are stable, else new ones, never kept."""
    return {
        key_parameter(policy, name): policy.key_of(name) or secrets.token_hex(32)
        for name in policy.columns_with(Role.PSEUDONYM)
    }
