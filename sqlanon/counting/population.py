"""Counts the population that includes the people of the source, for k-map."""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from sqlanon.counting.binding import Quasi, generalized_of
from sqlanon.counting.counter import OUTSIDE, Counted, Counter, clamped_atom, dictionary, groups_of
from sqlanon.counting.sources import population_source, refuse_empty_population
from sqlanon.domain import (
    Codes,
    Column,
    CountedPopulation,
    Family,
    GroupFit,
    IntervalDomain,
    Partition,
    Space,
    Tally,
    Value,
    sort_key,
    takes_unseen,
)
from sqlanon.engines import ColumnInfo, Source, numbers_of
from sqlanon.errors import EngineError, SubjectError
from sqlanon.policy import Policy


@dataclass(frozen=True)
class Reach:
    """Which values beside its atoms the groups of a column match in a release.

    whole    the group of all atoms matches every value
    top      so does a group of all atoms but NULL
    between  a group of several values matches those between them, and up to the next group
    beyond   the outermost groups match the values beyond them
    steps    a calendar step matches all its days, an interval all its numbers, if it holds at
             least two values of the source
    """

    whole: bool = False
    top: bool = False
    between: bool = False
    beyond: bool = False
    steps: bool = False


def place_of(value: Value | None, column: Column, reach: Reach) -> GroupFit | None:
    """The place of a value among the groups; None if no group matches it."""
    domain = column.domain
    assert not isinstance(domain, IntervalDomain)
    atom = domain.codes.get(None if value is None else sort_key(value))
    if atom is not None:
        return GroupFit(atom, atom, atom + 1)
    found = None
    if value is not None and reach.between:
        found = _between(value, column, reach.beyond)
    elif value is not None and reach.steps:
        found = _in_step(value, column)
    return found or _anywhere(column, reach)


def place_of_interval(code: int, column: Column, reach: Reach) -> GroupFit | None:
    """The same for the number of an interval, or OUTSIDE the range."""
    if code != OUTSIDE and code < column.size:
        return GroupFit(code, code, code + 1)
    if code == OUTSIDE and reach.beyond:  # NaN is in none of several intervals
        return GroupFit(0, 0, column.domain.width)
    return _anywhere(column, reach)


def _anywhere(column: Column, reach: Reach) -> GroupFit | None:
    if reach.top:
        return GroupFit(0, 0, column.domain.width)
    return GroupFit(0, 0, column.size) if reach.whole else None


def _between(value: Value, column: Column, beyond: bool) -> GroupFit | None:
    values = column.domain.left_ends
    width = len(values)
    if width < 2:
        return None
    if isinstance(value, float) and math.isnan(value):
        return GroupFit(0, 0, width) if beyond else None
    below = bisect.bisect_right(values, sort_key(value), key=sort_key) - 1
    if not beyond and not 0 <= below < width - 1:
        return None
    if below <= 0:
        return GroupFit(0, 0, 2)
    if below == width - 1:
        return GroupFit(below, below - 1, width)
    return GroupFit(below, below, below + 1, company=True)


def _in_step(value: Value, column: Column) -> GroupFit | None:
    """The lowest step that holds the value and two of the column's, and that labels them.

    If a lower step holds the same two, a release may label them with that step: two days of July
    are "1983-07" and not "1983", so a day in February does not match.
    """
    hierarchy, values = column.hierarchy, column.domain.left_ends
    assert hierarchy is not None
    assert hierarchy.extent is not None
    for level in range(1, hierarchy.height):
        span: Any = hierarchy.extent(level, value)
        if span is None:
            continue
        start, stop = (bisect.bisect_left(values, end) for end in span)
        if stop - start > 1 and hierarchy.level_of(start, stop, column.min_level) == level:
            return GroupFit(start, start, stop)
    return None


def population_of(
    policy: Policy, source: Source, quasis: Sequence[Quasi], space: Space
) -> CountedPopulation:
    """The people of the policy's population, counted by the groups of a space."""
    others, subject = _named_population(policy, source)
    reaches = [_reach(policy, source.column(column.name), column) for column in space.columns]
    try:
        return count_population(others, quasis, space, reaches, subject, policy.section.memory)
    except SubjectError as error:
        where = f"{policy.origin}: population: {others.name}"
        raise SubjectError(f"{where}: {error}") from None
    except EngineError:
        refuse_empty_population(policy, others)
        raise


def people_of_population(policy: Policy, source: Source) -> int:
    """Counts all people of the policy's population, even with values that the source lacks."""
    others, subject = _named_population(policy, source)
    number: exp.Expr = exp.Star()
    if subject is not None:
        number = exp.Distinct(expressions=[exp.column(subject, quoted=True)])
    count = exp.Count(this=number).as_("n", quoted=True)
    query = exp.select(count).from_(others.relation.copy())
    return int(others.engine.fetch(query).column(0)[0].as_py())


def _named_population(policy: Policy, source: Source) -> tuple[Source, str | None]:
    """The policy's population and its subject; a policy with k-map has one."""
    found, section = population_source(policy, source), policy.section.population
    assert found is not None
    assert section is not None
    return found, section.subject


def _reach(policy: Policy, info: ColumnInfo, column: Column) -> Reach:
    levels = dict.fromkeys(column.levels[column.limits[0] :])
    unlimited = dataclasses.replace(column, max_level=None)
    *below, whole = (generalized_of(policy, info, unlimited, level) for level in levels)
    unseen = policy.section.publish.unseen
    steps = [each.spans for each in below if len(each.partition) < column.size]
    # Neighbours that are not a node list their values, and then the whole column does.
    of_nodes = column.family is not Family.CONTIGUOUS and column.domain.is_sorted
    width = column.domain.width
    all_values = Partition.from_groups([int(atom >= width) for atom in range(column.size)])
    takes_top = unlimited.beyond_limits(all_values) is None and takes_unseen(
        generalized_of(policy, info, unlimited, all_values), unseen
    )
    return Reach(
        whole=whole.takes_all or takes_unseen(whole, unseen),
        top=takes_top,
        between=whole.by_intervals,
        beyond=whole.by_intervals and whole.is_open,
        steps=of_nodes and bool(steps) and None not in steps,
    )


def count_population(
    source: Source,
    quasis: Sequence[Quasi],
    space: Space,
    reaches: Sequence[Reach],
    subject: str | None = None,
    memory: str | None = None,
) -> CountedPopulation:
    """Counts the people of a population by the places of their values among the groups of a space.

    `reaches` says which values the groups of each column match. People who match none are left out.
    """
    counter = Counter(source, quasis, (), memory)
    for j, (counted, reach) in enumerate(zip(counter.atoms, reaches, strict=True)):
        if isinstance(counted.domain, IntervalDomain) and reach.beyond:
            expression = clamped_atom(counted.domain)
            counter.atoms[j] = dataclasses.replace(counted, expression=expression)
    table, tally = counter.people(subject)
    found = [
        _places(counted, column, reach, table[f"q{j}"])
        for j, (counted, column, reach) in enumerate(
            zip(counter.atoms, space.columns, reaches, strict=True)
        )
    ]
    codes = np.column_stack([of_entries for _, of_entries in found])
    known = (codes != OUTSIDE).all(axis=1)
    numbers = (each[known] for each in (codes, tally.rows, tally.people, tally.mover))
    return CountedPopulation(tuple(places for places, _ in found), _summed(Tally(*numbers)))


def _places(
    counted: Counted, column: Column, reach: Reach, fetched: pa.ChunkedArray
) -> tuple[tuple[GroupFit, ...], Codes]:
    """The distinct places, and for each entry the number of its place or OUTSIDE."""
    found: list[GroupFit | None]
    entry: npt.NDArray[np.signedinteger[Any]]
    if isinstance(column.domain, IntervalDomain):
        numbers = numbers_of(fetched, null=column.domain.width)
        distinct, entry = np.unique(numbers, return_inverse=True)
        found = [place_of_interval(int(code), column, reach) for code in distinct]
    else:
        values, entry = dictionary(counted, fetched)
        # Index -1 (NULL) picks the last entry.
        found = [place_of(value, column, reach) for value in [*values, None]]
    places = tuple(sorted({place for place in found if place is not None}))
    number = {place: i for i, place in enumerate(places)}
    codes = [OUTSIDE if place is None else number[place] for place in found]
    return places, np.array(codes, dtype=np.int32)[entry.reshape(-1)]


def _summed(tally: Tally) -> Tally:
    """One entry for all values that have the same place."""
    first, number = groups_of([*tally.codes.T, tally.mover])
    rows, people = (
        np.bincount(number, counts, len(first)).astype(np.int64)
        for counts in (tally.rows, tally.people)
    )
    return Tally(tally.codes[first], rows, people, tally.mover[first])
