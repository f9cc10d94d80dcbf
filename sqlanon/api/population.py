"""The people that those of the source are a part of, for k-map."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.api.bind import address_in, is_empty, misfit, refuse_empty
from sqlanon.engines import ColumnInfo, DuckDBEngine, Source, source_on
from sqlanon.engines.addresses import database_path
from sqlanon.engines.base import suggest
from sqlanon.errors import EngineError, PolicyError, SubjectError
from sqlanon.model import Kind
from sqlanon.policy import Policy, Role


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
    assert isinstance(engine, DuckDBEngine)
    reading = engine.reading
    try:
        file = None if section.file is None else policy.folder / section.file
        found = source_on(engine, table=section.table, query=section.query, file=file)
    except EngineError as error:
        raise EngineError(policy.hide(f"{policy.origin}: population: {error}")) from None
    finally:
        engine.reading = reading  # messages go on to speak of the source
    _check_columns(policy, source, found)
    return found


@contextmanager
def telling_of_population(policy: Policy, population: Source) -> Iterator[None]:
    """What fails while the people of a population are counted says where they are."""
    try:
        yield
    except SubjectError as error:
        where = f"{policy.origin}: population: {population.name}"
        raise SubjectError(f"{where}: {error}") from None
    except EngineError:
        _refuse_empty(policy, population)
        raise


def _refuse_empty(policy: Policy, population: Source) -> None:
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
    if own is None:
        return False
    try:
        one, other = database_path(own), database_path(address)
    except EngineError:
        return False  # of no engine that is known here, so not the source's
    if one is None or other is None:
        return False  # every database in memory is one of its own
    return one.exists() and other.exists() and one.samefile(other)


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
        _refuse_empty(policy, population)
    problems += others
    if problems:
        raise misfit(f"{policy.origin}: population", problems)


def _differences(own: ColumnInfo, other: ColumnInfo) -> Iterator[str]:
    """Texts are compared as they are stored, and instants as the session's time zone says."""
    comparable = own.kind is other.kind
    if own.kind is Kind.TEXT:
        comparable = comparable and own.type == other.type
    if own.kind is Kind.TIMESTAMP:
        comparable = comparable and ("ZONE" in own.type) is ("ZONE" in other.type)
    if not comparable:
        yield (
            f"column {own.name!r} is {other.type}, the source's is {own.type}; read the "
            "population by a query that casts it"
        )
