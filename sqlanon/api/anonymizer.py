"""What ETL scripts use: a policy applied to its table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from sqlanon.api.bind import Origin, check_columns, open_lent_source, open_policy_source
from sqlanon.api.changed import telling_of_changes
from sqlanon.api.domains import scheme_as_listed, scheme_without_counting
from sqlanon.api.places import file_to_rewrite, released_before, telling_of_release
from sqlanon.api.population import population_source
from sqlanon.api.publishable import check_types
from sqlanon.api.published import Release
from sqlanon.api.publishing import Publisher
from sqlanon.api.release import (
    SchemeLike,
    check_fit,
    document_of,
    falls_short,
    header_of,
    portable_source,
    recipe_of,
    scheme_in,
    shown,
)
from sqlanon.api.searching import Searching
from sqlanon.api.solution import Solution
from sqlanon.api.used_files import refuse_workspace
from sqlanon.arguments import function, optional, path, whole_number
from sqlanon.compile import release_text
from sqlanon.engines import open_source
from sqlanon.errors import (
    EngineError,
    SchemeError,
    SqlanonError,
    UncoveredValueError,
)
from sqlanon.model import Mode, brief_list
from sqlanon.policy import parse_policy, read_policy
from sqlanon.scheme import Scheme

_log = logging.getLogger("sqlanon.publish")


def load(
    policy: str | Path | Mapping[str, Any],
    *,
    connection: duckdb.DuckDBPyConnection | None = None,
    data: pd.DataFrame | pa.Table | None = None,
    workspace: str | Path | None = None,
    workers: int | None = None,
) -> Anonymizer:
    """Opens the source of a policy (a file's path or a mapping) for measuring.

    `connection` is an open DuckDB connection to use instead of the policy's own; it stays
    open. `data` is a DataFrame or Arrow table to use as the source. A `workspace` file keeps
    measurements for the next run. `workers` is the number of threads, by default one a
    processor.
    """
    if connection is not None and data is not None:
        raise EngineError("give load() a connection or data, not both")
    if not isinstance(policy, Mapping):
        policy = path("policy", policy, "the path of a policy file, or a mapping")
    workspace = optional(path, "workspace", workspace, "the path of a DuckDB file")
    workers = optional(whole_number, "workers", workers, 1)
    checked = parse_policy(policy) if isinstance(policy, Mapping) else read_policy(policy)
    origin = Origin(connection, data, policy_is_file=not isinstance(policy, Mapping))
    if workspace is not None:
        refuse_workspace(workspace, checked, origin)
    if data is not None:
        source = open_source(data=data)
    elif connection is not None:
        source = open_lent_source(checked, connection)
    else:
        source = open_policy_source(checked)
    try:
        with telling_of_release(checked, source):
            check_columns(checked, source)
            check_types(checked, source)
            population_source(checked, source)  # its mistakes are told before any work
    except BaseException:
        source.engine.close()
        raise
    return Anonymizer(checked, source, origin, workspace=workspace, workers=workers)


class Anonymizer(Searching):
    """A policy and its source. Use it in a `with` block, or close it when done."""

    def __repr__(self) -> str:
        source = self.policy.hide(brief_list([self.source.name], width=100))
        return f"<Anonymizer of {source} with {self.policy!r}>"

    def _scheme_to_release(self, scheme: SchemeLike) -> Scheme:
        """A scheme over the domains it was made for.

        Values that joined the data since then are not part of it; what becomes of them says
        `publish.unseen` of the policy. The source is counted only where nobody lists the
        values of a column.
        """
        known = scheme_in(scheme)
        if known is not None:
            known = known.given or known
            check_fit(self.policy, known)
            return known
        with telling_of_changes(self.policy, scheme):
            document, origin = document_of(scheme)
            found = scheme_without_counting(self.policy, self.source, document, origin)
            return found or scheme_as_listed(self.policy, self.source, self.space, document, origin)

    def sql(self, scheme: SchemeLike, *, dialect: str = "duckdb") -> str:
        """The SELECT that builds the release of a scheme, with a header that names it."""
        with telling_of_release(self.policy, self.source):
            released = self._scheme_to_release(scheme)
        guarded = self.policy.section.publish.mode is Mode.VIEW
        solution = self._measured(scheme)
        k = None if solution is None else int(solution.scores["k"] or 0)
        header = header_of(self.policy, self.source, released, k)
        if solution is not None and solution.feasible is False:
            header += falls_short(self.policy)
        source, notes = portable_source(self.source, dialect)
        recipe = recipe_of(self.policy, source, released, [*header, *notes], dialect)
        return release_text(shown(recipe), dialect, guarded=guarded)

    def publish(
        self,
        scheme: SchemeLike,
        *,
        certificates: str | Path | None = None,
        rewrite: bool = False,
        replace_file: bool = False,
        on_stage: Callable[[str], None] | None = None,
    ) -> Release:
        """Builds the release of a scheme in its place: staged, verified, swapped.

        `certificates` is the folder for the certificate's files; unless given, that of the
        policy's file, and none for a policy that is no file. With `rewrite` the database file
        is written anew afterwards, because dropped rows stay in it otherwise. A file that sqlanon
        did not make is replaced with `replace_file` only. `on_stage` hears what is going on.
        When anything fails, source and former release are as they were, unless the message says
        that the release was published.

        Inside a transaction of the connection that `load` was given, no certificate is written
        and `certificates` is refused: call `release.write_certificate(folder)` after the commit.
        """
        certificates = optional(path, "certificates", certificates, "the path of a folder")
        optional(function, "on_stage", on_stage)
        file = file_to_rewrite(self.policy, self._origin) if rewrite else None
        try:
            with self._publisher(scheme) as publisher:
                folder = publisher.folder_for(certificates, self._folder)
                release = publisher.publish(folder, on_stage, replace_file=replace_file)
                return publisher.finish(release, file)
        finally:
            if self.policy.section.publish.mode is Mode.REPLACE:
                self._forget_counts()

    def dry_run(self, scheme: SchemeLike) -> list[str]:
        """The statements that `publish` would run, in their order."""
        with self._publisher(scheme, read_only=True) as publisher:
            return publisher.statements()

    def type_changes(self, scheme: SchemeLike) -> list[str]:
        """How the released columns differ from those of the source, a line each."""
        with self._publisher(scheme, read_only=True) as publisher:
            return publisher.type_changes()

    def losses(self, scheme: SchemeLike) -> list[str]:
        """What `publish` with `mode: replace` takes away, a line each.

        The rows of the source, keys, checks, defaults and indexes, and the views that read it.
        """
        with self._publisher(scheme, read_only=True) as publisher:
            return publisher.losses()

    @property
    def _folder(self) -> Path | None:
        """Of the policy's file; a policy from a mapping has none."""
        return self.policy.folder if self._origin.policy_is_file else None

    @contextmanager
    def _publisher(self, scheme: SchemeLike, *, read_only: bool = False) -> Iterator[Publisher]:
        """The databases of a publish; unless `read_only`, the target's is open for writing, which
        it is at no other time."""
        with telling_of_release(self.policy, self.source):
            released = self._scheme_to_release(scheme)
        ours = self._origin.is_the_policys
        already = released_before(self.policy, self.source)
        if ours:
            self.source.engine.close()
        try:
            opened = Publisher(self.policy, self._origin, released, read_only=read_only)
            with closing(opened) as publisher:
                yield publisher
        except SqlanonError as error:
            # Engines name addresses in their messages, and these may come from the environment.
            hidden = self.policy.hide(str(error)) + already
            if hidden == str(error):
                raise
            raise error.reworded(hidden) from None
        finally:
            if ours:
                self._reopen()

    def _reopen(self) -> None:
        """The source as it was before; what was published stays so even if that fails."""
        try:
            self.source = open_policy_source(self.policy)
        except EngineError as error:
            _log.warning("the source cannot be opened again: %s", error)

    def _measured(self, scheme: SchemeLike) -> Solution | None:
        """A scheme measured on the source; None where that holds values which are new to it."""
        try:
            return self.measure(scheme)
        except (UncoveredValueError, SchemeError):
            return None
