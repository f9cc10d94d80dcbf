"""Publishing a scheme: from the policy's words to a release with its certificate."""

from __future__ import annotations

import datetime as dt
import hashlib
import platform
import re
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from sqlanon.api.bind import Origin, address_in
from sqlanon.api.facts import Account, facts_of
from sqlanon.api.published import Release
from sqlanon.api.release import header_of, key_parameter, recipe_of
from sqlanon.api.tallies import Tallies, tally
from sqlanon.certificate import Certificate, Facts, Prior
from sqlanon.compile import Recipe, release_text
from sqlanon.engines import (
    Opened,
    PrivateFolder,
    Source,
    open_for_publishing,
    open_memory,
    open_source,
    remove_dead_folders,
    source_on,
)
from sqlanon.engines.addresses import database_path
from sqlanon.errors import CertificateError, EngineError, PolicyError, PublishError
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
from sqlanon.publish.effects import remaining
from sqlanon.publish.export import written_file
from sqlanon.publish.publishing import target_name
from sqlanon.publish.transaction import UNCHANGED
from sqlanon.scheme import Scheme

IN_MEMORY = "release"
"""The table of a release that goes nowhere: data in this process, made for this process."""
LONGEST_STEM = 200
"""Bytes of a table's name in the names of its certificate's files."""


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
            self.source = _source(policy, origin, self.opened)
            self.recipe = recipe_of(policy, self.source, scheme)
            self.order = self._order()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.opened.engine.close()

    def _order(self) -> Order:
        policy, section = self.policy, self.policy.section
        file = None if section.publish.file is None else policy.folder / section.publish.file
        target = None
        if file is None and section.publish.mode is not Mode.REPLACE:
            target = self.opened.table(section.publish.to or IN_MEMORY)
        return Order(
            recipe=self.recipe,
            checks=Checks(
                limit=section.suppression.limit,
                verbatim=_reasons(policy, self.recipe),
                sensitive=tuple(policy.columns_with(Role.SENSITIVE)),
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

    def publish(
        self, folder: Path | None, on_stage: Callable[[str], None] | None = None
    ) -> Release:
        """Publishes, and writes the certificate into `folder` where one is given.

        The certificate is made, and its files are written under private names, before anything
        is put in place: a failure there stops the publish.
        """
        files = None if folder is None else Files(folder, self._stem())
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

            published = publish(self.opened.engine, self.order, on_stage=on_stage, inspect=inspect)
            written = () if files is None else files.finish(private[0], published.target)
        facts, certificate = made[0]
        writer = partial(write_certificate, facts, self._stem())
        return Release(published, certificate, written, self._reader(), writer)

    @property
    def in_callers_transaction(self) -> bool:
        return self.origin.connection is not None and self.opened.engine.in_transaction()

    def rewrite(self, file: Path, release: Release) -> Release:
        """Closes the database of a release and writes its file anew."""
        self.close()
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
        remains = tuple(remaining(self.order, None, replaced))
        return replace(release, published=replace(release.published, remains=remains))

    def _target(self) -> str:
        return target_name(self.opened.engine, self.order)

    def _tallies(self, stage: exp.Table, published: Published) -> Tallies:
        recipe = self.recipe
        guarded = self.order.mode is Mode.VIEW
        missing = published.left_out > 0 or recipe.marker is not None
        any_suppressed = (recipe.suppress or guarded) and missing
        return tally(
            self.opened.engine, recipe, stage, any_suppressed=any_suppressed, guarded=guarded
        )

    def _reader(self) -> Callable[[], pa.Table]:
        """How the released rows are read when a program asks for them later."""
        target = self.order.target or self.recipe.source
        if self.order.file is not None:
            return partial(_rows, file=self.order.file)
        if self.origin.connection is not None:
            return partial(_rows, connection=self.origin.connection, table=_spelled(target))
        address = release_address(self.policy, self.origin)
        if address is None:  # a table in memory is gone with this engine
            rows = self.opened.engine.fetch(exp.select("*").from_(target.copy()))
            return lambda: rows
        local = exp.table_(target.name, target.args.get("db"), quoted=True)
        return partial(_rows, connection=address, table=_spelled(local))

    def _facts(self, published: Published, tallies: Tallies, prior: tuple[Prior, ...]) -> Facts:
        header = header_of(self.policy, self.source, self.scheme, published.k)
        guarded = published.mode is Mode.VIEW
        text = release_text(
            recipe_of(self.policy, self.source, self.scheme, header), guarded=guarded
        )
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
        stem = re.sub(r"[^\w.-]+", "_", name) or IN_MEMORY
        if stem == name and len(stem.encode()) <= LONGEST_STEM:
            return stem
        start = stem.encode()[:LONGEST_STEM].decode(errors="ignore")
        return f"{start}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Files:
    """The files of a certificate: two forms, each as JSON and as a page."""

    folder: Path
    stem: str

    def path(self, form: str, suffix: str) -> Path:
        return self.folder / f"{self.stem}.{form}.{suffix}"

    @property
    def paths(self) -> tuple[Path, ...]:
        forms = ("certificate", "shareable")
        return tuple(self.path(form, suffix) for form in forms for suffix in ("json", "html"))

    def prepare(self, target: Callable[[], str]) -> tuple[Prior, ...]:
        """The releases before this one, by the certificate that it will replace.

        A folder that takes no files is refused now, while nothing is published, and so is one
        with the certificate of another target under the same name.
        """
        try:
            with TemporaryFile(dir=self.folder):
                path = self.path("certificate", "json")
        except OSError as error:
            raise PublishError(
                f"{self.folder}: the certificate cannot be written there ({error.strerror})"
            ) from None
        if not path.exists():
            return ()
        former = Certificate.read(path)
        if former.target is not None and former.target != target():
            raise CertificateError(
                f"{path}: is the certificate of {former.target}, and that of {target()} would "
                "replace it; move it, or choose another folder with --certificates "
                "(certificates= in Python)"
            )
        return former.chain()

    def private(self) -> PrivateFolder:
        """Where the files are until the release is in place."""
        remove_dead_folders(self.folder)
        return PrivateFolder(self.folder)

    def write(self, certificate: Certificate, folder: Path) -> None:
        """Writes the files into another folder than their own."""
        there = replace(self, folder=folder)
        for form, shareable in (("certificate", False), ("shareable", True)):
            certificate.write(there.path(form, "json"), shareable=shareable)
            certificate.write_page(there.path(form, "html"), shareable=shareable)

    def finish(self, folder: Path, target: str) -> tuple[Path, ...]:
        """Moves the files from there to their own folder."""
        for path in self.paths:
            try:
                (folder / path.name).replace(path)
            except OSError as error:
                raise CertificateError(
                    f"The release was published as {target}, but the certificate could not be "
                    f"written: {path} ({error.strerror})"
                ) from None
        return self.paths


def write_certificate(facts: Facts, stem: str, folder: Path) -> tuple[Path, ...]:
    """Writes the certificate of a release that is out, after those that the folder knows."""
    files = Files(folder, stem)
    found = files.prepare(lambda: facts.target)
    prior = tuple(each for each in found if each.release != facts.release) or facts.prior
    with files.private() as private:
        files.write(Certificate.of(replace(facts, prior=prior)), private.path)
        return files.finish(private.path, facts.target)


def release_address(policy: Policy, origin: Origin) -> str | None:
    """The address of the database that holds the release; None where only this process has it."""
    other = address_in(policy, policy.publish_connection())
    if other is not None or not origin.is_the_policys:
        return other
    return address_in(policy, policy.source_connection())


def file_to_rewrite(policy: Policy, origin: Origin) -> Path:
    """The database file of the release."""
    address = release_address(policy, origin)
    path = None if address is None else database_path(address)
    if path is None or policy.section.publish.file is not None:
        raise PublishError(
            "only a database file that sqlanon opens itself can be rewritten; this release is "
            "not in one"
        )
    return path


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
        return Opened(open_memory())
    source: str | duckdb.DuckDBPyConnection | None = origin.connection
    if origin.connection is None and origin.data is None:
        source = address_in(policy, policy.source_connection())
    return open_for_publishing(
        source,
        target=address_in(policy, policy.publish_connection()),
        file=None if section.file is None else policy.folder / section.file,
        read_only=read_only,
    )


def _source(policy: Policy, origin: Origin, opened: Opened) -> Source:
    if origin.data is not None:
        return source_on(opened.engine, data=origin.data)
    section = policy.section.source
    file = None if section.file is None else policy.folder / section.file
    return source_on(opened.engine, table=section.table, query=section.query, file=file)


def _rows(**place: Any) -> pa.Table:
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


def _spelled(table: exp.Expr) -> str:
    """A table's name as policies write it."""
    parts = [part.sql("duckdb", identify=True) for part in table.parts]  # type: ignore[attr-defined]
    return ".".join(parts)


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
