"""Which people of a population the groups of a release take, for those who count them before."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.api.release import item_of
from sqlanon.compile import Generalized
from sqlanon.compile.present import takes_unseen
from sqlanon.engines import ColumnInfo, Source
from sqlanon.histogram import Reach
from sqlanon.model import Family
from sqlanon.policy import Policy
from sqlanon.scheme import Column, Partition, Space


def reaches_of(policy: Policy, source: Source, space: Space) -> list[Reach]:
    """By column what its groups take in a release beside the values of the source."""
    return [_reach(policy, source.column(column.name), column) for column in space.columns]


def _reach(policy: Policy, info: ColumnInfo, column: Column) -> Reach:
    levels = dict.fromkeys(column.levels[column.limits[0] :])
    *below, whole = (_generalized(policy, info, column, level) for level in levels)
    unseen = policy.section.publish.unseen
    steps = [each.spans for each in below if len(each.partition) < column.size]
    # Neighbours that are no node list their values, and then so does the whole column.
    of_nodes = column.family is not Family.CONTIGUOUS and column.domain.is_sorted
    return Reach(
        whole=whole.takes_all or takes_unseen(whole, unseen),
        top=_takes_top(policy, info, column),
        between=whole.by_intervals,
        beyond=whole.by_intervals and whole.is_open,
        steps=of_nodes and bool(steps) and None not in steps,
    )


def _takes_top(policy: Policy, info: ColumnInfo, column: Column) -> bool:
    """Whether the group of all values, NULL aside, is released as what belongs to no group."""
    width = column.domain.width
    partition = Partition.from_groups([int(atom >= width) for atom in range(column.size)])
    if replace(column, max_level=None).beyond_limits(partition) is not None:
        return False
    item = _generalized(policy, info, column, partition)
    return takes_unseen(item, policy.section.publish.unseen)


def _generalized(
    policy: Policy, info: ColumnInfo, column: Column, partition: Partition
) -> Generalized:
    item = item_of(policy, info, (replace(column, max_level=None), partition))
    assert isinstance(item, Generalized)
    return item
