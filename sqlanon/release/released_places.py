"""Where a release is made and where it is read: databases, files, memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.counting import Origin, address_in, folders_of, telling_of_no_rows
from sqlanon.domain import Mode
from sqlanon.engines import (
    UNCHANGED,
    Connection,
    Opened,
    Source,
    database_path,
    engine_class,
    open_engine,
    open_for_publishing,
    open_source,
)
from sqlanon.errors import EngineError, PolicyError, PublishError, SqlanonError
from sqlanon.policy import Policy
from sqlanon.release.export import written_file
from sqlanon.release.plan import RELEASE_COMMENT


def release_address(policy: Policy, origin: Origin) -> str | None:
    """The address of the database that holds the release; None where only this process has it."""
    other = address_in(policy, policy.publish_connection())
    if other is not None or not origin.is_the_policys:
        return other
    return address_in(policy, policy.source_connection())


def address_to_rewrite(policy: Policy, origin: Origin) -> str:
    """The address of the release's database, which is a file that can be written anew."""
    address = release_address(policy, origin)
    path = None if address is None else database_path(address)
    if address is None or path is None or policy.section.publish.file is not None:
        raise PublishError(
            "only a database file that sqlanon opens itself can be rewritten; this release is "
            "not in one"
        )
    engine = engine_class(address)
    if not engine.can.rewrites:
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
    """What fails on a source that is a release already, or has no rows, says so, once."""
    try:
        with telling_of_no_rows(source):
            yield
    except SqlanonError as error:
        already = released_before(policy, source)
        if not already or already in str(error):
            raise
        raise error.reworded(f"{error}{already}") from None


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
