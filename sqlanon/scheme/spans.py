"""Which values, seen or not, the groups of a column hold by their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlanon.domain import ValueDomain
from sqlanon.hierarchy.tree import Span
from sqlanon.model import Value, sort_key
from sqlanon.scheme.column import Column
from sqlanon.scheme.labels import group_labels, naming_level
from sqlanon.scheme.partition import Partition


def group_spans(column: Column, partition: Partition) -> tuple[Span | None, ...] | None:
    """By group of values, NULL aside, the span that its label names; None for a single value.

    None where there is no such span, or where a group of several values has none: its label
    lists or encloses values that were seen, and nobody knows of others. None too where the spans
    do not part the values as the groups do.
    """
    domain, hierarchy = column.domain, column.hierarchy
    if hierarchy is None or hierarchy.extent is None or not isinstance(domain, ValueDomain):
        return None
    least = naming_level(column, partition)
    labels = group_labels(column, partition)
    spans: list[Span | None] = []
    for (start, stop), label in zip(partition.runs, labels, strict=True):
        if start == domain.width:
            break
        if stop > domain.width:
            return None
        single = stop - start == 1
        level = 0 if single and least == 0 else hierarchy.level_of(start, stop, least)
        span = None
        if level is not None and hierarchy.levels[level][start] == label:
            span = hierarchy.extent(level, domain.values[start])
        if span is None and not (single and (level == 0 or _is_apart(domain.values[start]))):
            return None
        spans.append(span)
    if all(span is None for span in spans) or not _parts(column, partition, spans):
        return None
    return tuple(spans)


def _parts(column: Column, partition: Partition, spans: Sequence[Span | None]) -> bool:
    """Whether every value lies in the span of its group, and one group ends before the next."""
    values: Sequence[Any] = column.domain.left_ends
    last: Any = None
    was_single = False
    for number, ((start, stop), span) in enumerate(zip(partition.runs, spans, strict=False)):
        first: Any = values[start] if span is None else span[0]
        if number and (
            first is None or last is None or first < last or (was_single and first == last)
        ):
            return False
        if span is not None and not all(_within(value, span) for value in values[start:stop]):
            return False
        last, was_single = (first, True) if span is None else (span[1], False)
    return True


def partition_by_spans(
    old: Column, partition: Partition, column: Column, spans: Sequence[Span | None]
) -> Partition | None:
    """The groups of a column over other values than those they were found on.

    `spans` are those of `partition`, which is one of `old`. None where a value is in no group,
    or has NULL only in one of the two.
    """
    domain, before = column.domain, old.domain
    if not isinstance(domain, ValueDomain) or not isinstance(before, ValueDomain):
        return None
    if domain.has_null and not before.has_null:
        return None
    starts = [start for start, _ in partition.runs[: len(spans)]]
    groups: list[int] = []
    for value in domain.values:
        found = [
            number
            for number, (start, span) in enumerate(zip(starts, spans, strict=True))
            if (_equal(value, before.values[start]) if span is None else _within(value, span))
        ]
        if not found:
            return None
        groups.append(found[0])
    if domain.has_null:
        groups.append(len(spans))
    return Partition.from_groups(groups)


def _is_apart(value: Value) -> bool:
    """Whether a value is in no interval: NaN and the infinities, also where levels are coarse."""
    return isinstance(value, float) and not math.isfinite(value)


def _equal(value: Value, other: Value) -> bool:
    return bool(sort_key(value) == sort_key(other))  # also for NaN


def _within(value: Any, span: Span) -> bool:
    low, high = span
    return (low is None or low <= value) and (high is None or value < high)
