"""The files that a policy lives on, which nothing else may be written over."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlanon.api.bind import Origin, address_in, find_hierarchy
from sqlanon.engines.addresses import database_path
from sqlanon.errors import EngineError
from sqlanon.evaluate.cache import refuse_other_database
from sqlanon.policy import Policy


@dataclass(frozen=True)
class Used:
    """A file in use; `role` says in a message what it is."""

    path: Path
    role: str

    def is_same(self, other: Path) -> bool:
        """Whether another path leads to this file, by a link too."""
        try:
            return self.path.samefile(other)
        except OSError:  # one of them does not exist
            # Path.resolve raises where links go round in circles.
            return os.path.realpath(self.path) == os.path.realpath(other)


def files_of(policy: Policy, origin: Origin | None = None) -> list[Used]:
    """Every file that a policy names, and the policy's own."""
    section = policy.section
    used = []
    if origin is None or origin.policy_is_file:
        used.append(Used(Path(policy.origin), "the policy itself"))
    if section.source.file is not None:
        used.append(Used(policy.folder / section.source.file, "the source of the policy"))
    if section.population is not None and section.population.file is not None:
        used.append(Used(policy.folder / section.population.file, "the population of the policy"))
    if section.publish.file is not None:
        used.append(Used(policy.folder / section.publish.file, "where the policy publishes to"))
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


def refuse_used(path: Path, used: Iterable[Used], otherwise: str) -> None:
    """Refuses a file that is in use already; `otherwise` says what to do instead."""
    for each in used:
        if each.is_same(path):
            raise EngineError(f"{path}: is {each.role}; {otherwise}")


def refuse_workspace(path: Path, policy: Policy, origin: Origin) -> None:
    """Refuses a workspace that is something else, before it is opened or changed."""
    refuse_used(path, files_of(policy, origin), "a workspace is a file of its own: name another")
    refuse_other_database(path)
