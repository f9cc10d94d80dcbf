"""Opens the source and the population of a policy, and the place of its release.

Nothing else may be written over these files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.counting.binding import find_hierarchy, misfit
from sqlanon.counting.histogram_files import open_histogram
from sqlanon.engines import (
    ColumnInfo,
    Connection,
    Data,
    Kind,
    Source,
    database_path,
    open_source,
    same_database,
    source_folders,
)
from sqlanon.errors import (
    EngineError,
    PolicyError,
)
from sqlanon.evaluate import refuse_other_database
from sqlanon.files import Used, refuse_used
from sqlanon.policy import Policy, Role
from sqlanon.wording import suggest


@dataclass(frozen=True)
class Origin:
    """A connection or data that replace the policy's own source.

    Also whether the policy comes from a file, beside which certificates are written.
    """

    connection: Connection | None = None
    data: Data | None = None
    policy_is_file: bool = False

    @property
    def is_the_policys(self) -> bool:
        return self.connection is None and self.data is None


def open_policy_source(policy: Policy) -> Source:
    """Opens the source that a policy names; relative paths start at the policy's folder."""
    section = policy.section.source
    if section.histogram is not None:
        return open_histogram(policy)
    if section.table is None and section.query is None and section.file is None:
        raise PolicyError(f"{policy.origin}: source: says no table, query or file to read")
    try:
        return open_source(
            connection=address_in(policy, policy.source_connection()),
            table=section.table,
            query=section.query,
            file=None if section.file is None else policy.folder / section.file,
            folders=folders_of(policy),
            memory=policy.section.memory,
        )
    except EngineError as error:
        # Engines name the address in their messages, and it may come from the environment.
        hidden = policy.hide(str(error))
        if hidden == str(error):
            raise
        raise EngineError(hidden) from None


def folders_of(policy: Policy) -> list[Path]:
    """The folders of the files that the source and the population of a policy name."""
    sections = (
        (policy.section.source, policy.source_connection()),
        (policy.section.population, policy.population_connection()),
    )
    return [
        folder
        for section, connection in sections
        if section is not None
        for folder in source_folders(
            section.query,
            None if section.file is None else policy.folder / section.file,
            connection,
        )
    ]


def address_in(policy: Policy, connection: str | None) -> str | None:
    """An address of the policy; a relative path of a database starts at the policy's folder."""
    try:
        path = None if connection is None else database_path(connection)
    except EngineError:
        return connection  # refused where it is opened
    if connection is None or path is None:
        return connection
    return f"{connection.partition(':')[0]}:///{policy.folder.absolute() / path}"


def open_lent_source(policy: Policy, connection: Connection) -> Source:
    """The policy's table or query on a connection of the caller."""
    section = policy.section.source
    if section.table is None and section.query is None:
        found = "a file" if section.file is not None else "neither"
        raise PolicyError(
            f"{policy.origin}: source: with a connection it needs a table or query, found {found}"
        )
    return open_source(connection=connection, table=section.table, query=section.query)


def is_empty(source: Source) -> bool:
    """Whether a table has no rows."""
    one = exp.select(exp.Literal.number(1).as_("n")).from_(source.relation.copy()).limit(1)
    return not len(source.engine.fetch(one))


def refuse_empty(source: Source) -> None:
    """Refuses a source without rows, for which any other message would mislead."""
    if is_empty(source):
        raise EngineError(f"{source.name} has no rows; there is nothing to anonymize")


def files_of(policy: Policy, origin: Origin | None = None) -> list[Used]:
    """Every file that a policy names, and the policy's own."""
    section = policy.section
    used = []
    if origin is None or origin.policy_is_file:
        used.append(Used(Path(policy.origin), "the policy itself"))
    if section.source.file is not None:
        used.append(Used(policy.folder / section.source.file, "the source of the policy"))
    if section.source.histogram is not None:
        used.append(Used(policy.folder / section.source.histogram, "the histogram of the policy"))
    if section.population is not None and section.population.file is not None:
        used.append(Used(policy.folder / section.population.file, "the population of the policy"))
    if section.publish.file is not None:
        used.append(Used(policy.folder / section.publish.file, "where the policy publishes to"))
    if policy.workspace is not None:
        used.append(Used(Path(policy.workspace.file), "the workspace of the policy"))
    used += databases_of(policy)
    for name, column in section.columns.items():
        if isinstance(column.hierarchy, str):
            path = find_hierarchy(column.hierarchy, policy.folder)
            used.append(Used(path, f"the hierarchy of column {name!r}"))
    return used


def databases_of(policy: Policy) -> list[Used]:
    """The database files of a policy's source, of its population and of its release."""
    used = []
    for address, role in (
        (policy.source_connection(), "the database of the policy's source"),
        (policy.population_connection(), "the database of the policy's population"),
        (policy.publish_connection(), "the database that the policy publishes to"),
    ):
        with suppress(EngineError):  # an address that is wrong is refused where it is opened
            full = address_in(policy, address)
            path = None if full is None else database_path(full)
            if path is not None:
                used.append(Used(path, role))
    return used


def refuse_workspace(path: Path, policy: Policy, origin: Origin) -> None:
    """Refuses a workspace that is something else, before it is opened or changed."""
    others = [
        used
        for used in files_of(policy, origin)
        if policy.workspace is None or used.path != Path(policy.workspace.file)
    ]
    refuse_used(path, others, "a workspace is a file of its own: name another")
    refuse_other_database(path)


def population_source(policy: Policy, source: Source) -> Source | None:
    """The population that a policy names, on the source's own engine; None if it names none.

    One statement counts the people of both, so it is a table or query of the source's
    database, or a file. It has every quasi-identifier of the source, in a type whose values
    compare with the source's. Close the source, not this.
    """
    section = policy.section.population
    if section is None:
        return None
    if section.file is None and not _is_beside_source(policy):
        raise PolicyError(
            f"{policy.origin}: population.connection: is another database than the source's; a "
            "population is counted together with the source, so copy it into the source's "
            "database, or give it as a file"
        )
    engine = source.engine
    reading = engine.reading
    try:
        file = None if section.file is None else policy.folder / section.file
        found = engine.source(table=section.table, query=section.query, file=file)
    except EngineError as error:
        raise EngineError(policy.hide(f"{policy.origin}: population: {error}")) from None
    finally:
        engine.reading = reading  # messages name the source again
    _check_columns(policy, source, found)
    return found


def refuse_empty_population(policy: Policy, population: Source) -> None:
    if is_empty(population):
        raise PolicyError(
            f"{policy.origin}: population: {population.name} has no rows; name a table of the "
            "people that those of the source are a part of, or leave `population` out"
        )


def _is_beside_source(policy: Policy) -> bool:
    """Whether the population's address, if it has one, is that of the source."""
    address = address_in(policy, policy.population_connection())
    own = address_in(policy, policy.source_connection())
    if address is None or address == own:
        return True
    return own is not None and same_database(own, address)


def _check_columns(policy: Policy, source: Source, population: Source) -> None:
    present = {info.name: info for info in population.columns}
    subject = policy.section.population.subject if policy.section.population else None
    wanted = [*policy.columns_with(Role.QUASI), *([] if subject is None else [subject])]
    problems = [
        f"column {name!r} is not in {population.name}. {suggest(name, present, 'Its columns:')}"
        for name in dict.fromkeys(wanted)
        if name not in present
    ]
    others = [
        line
        for name in policy.columns_with(Role.QUASI)
        if name in present
        for line in _differences(source.column(name), present[name])
    ]
    if others:  # an empty CSV file has no types, only text
        refuse_empty(source)
        refuse_empty_population(policy, population)
    problems += others
    if problems:
        raise misfit(f"{policy.origin}: population", problems)


def _differences(own: ColumnInfo, other: ColumnInfo) -> Iterator[str]:
    """Reports that a column of the population has no type that compares with the source's."""
    comparable = own.kind is other.kind
    if own.kind is Kind.TEXT:
        comparable = comparable and own.type == other.type
    if own.kind is Kind.TIMESTAMP:
        comparable = comparable and own.has_time_zone is other.has_time_zone
    if not comparable:
        yield (
            f"column {own.name!r} is {other.type}, the source's is {own.type}; read the "
            "population by a query that casts it"
        )
