"""How groups will be written in a release, for whoever looks at a scheme before there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.compile import Generalized
from sqlanon.compile.present import Cell, cells
from sqlanon.domain import ValueDomain
from sqlanon.errors import CompileError, SchemeError
from sqlanon.model import Output, format_value
from sqlanon.policy import Policy, Role
from sqlanon.scheme import Column, Partition, group_labels


@dataclass(frozen=True)
class Writing:
    """What a policy says about the writing of one column; `open_ends` None leaves it open."""

    output: Output = Output.LABEL
    open_ends: bool | None = None
    null_label: str | None = None

    def labels(self, column: Column, partition: Partition) -> tuple[str | None, ...]:
        """One text a group, as the release will have it; None is NULL.

        Where no release can be written, publishing says why; here groups go by plain labels.
        """
        item = Generalized(
            column,
            partition,
            "",
            output=self.output,
            open_ends=opens_ends(self.open_ends, column),
            null_label=self.null_label,
        )
        try:
            return tuple(cell_text(group) for group in cells(item))
        except (CompileError, SchemeError):
            return group_labels(column, partition)


Writings = Mapping[str, Writing]
"""By name of the column."""


def writings_of(policy: Policy) -> dict[str, Writing]:
    """How the policy writes each quasi-identifier."""
    sections = {name: policy.section.columns[name] for name in policy.columns_with(Role.QUASI)}
    return {
        name: Writing(section.output, section.open_ends, section.null_label)
        for name, section in sections.items()
    }


def opens_ends(wanted: bool | None, column: Column) -> bool:
    """Unless the policy decides, the extremes of observed values do not show in labels."""
    if wanted is not None:
        return wanted
    return isinstance(column.domain, ValueDomain) and column.domain.is_observed


def cell_text(group: tuple[Cell, ...]) -> str | None:
    """What is released for a group as one text, two columns with a comma; None for NULL."""
    if group[0] is None:
        return None
    return ", ".join(format_value(cell) for cell in group if cell is not None)
