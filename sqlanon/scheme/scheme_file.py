"""scheme.json: a scheme in names and values, so that people can read it and it stays valid
when other values join the data.

    {"version": 1, "columns": {"age": {"cuts": [25, 40, 60]},
                               "education": {"groups": [["10th", "11th"], ["Bachelors"]]},
                               "race": {"level": 1, "hierarchy": "5f0c…"}},
     "domains": {"age": [17, 18, 19, …]}}

`domains` lists the values of columns whose domain was observed in the data, so that a later
run knows which values are new. `required_k` is the k that the scheme was scored for, where that
is not the policy's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sqlanon.domain import ValueDomain
from sqlanon.errors import DomainError, SchemeError
from sqlanon.model import Family, Value, format_value, json_value, parse_value, sort_key
from sqlanon.scheme.column import Column
from sqlanon.scheme.partition import Partition
from sqlanon.scheme.scheme import Scheme

VERSION = 1
FORMS = {"cuts": {"null"}, "groups": set(), "level": {"hierarchy", "null"}}
"""The ways to write a partition, each with the keys that may stand beside it."""


def to_document(scheme: Scheme) -> dict[str, Any]:
    """The scheme as the JSON document of a scheme file."""
    pairs = zip(scheme.columns, scheme.partitions, strict=True)
    columns = {c.name: _written(c, p) for c, p in pairs}
    document: dict[str, Any] = {"version": VERSION, "columns": columns}
    if scheme.required_k is not None:
        document["required_k"] = scheme.required_k
    domains = observed_domains(scheme.columns)
    return {**document, "domains": domains} if domains else document


def observed_domains(columns: Sequence[Column]) -> dict[str, list[Any]]:
    """The values of the columns whose domain nobody declared; None is NULL."""
    return {
        c.name: [*map(json_value, c.domain.values), *[None] * c.domain.has_null]
        for c in columns
        if isinstance(c.domain, ValueDomain) and c.domain.is_observed
    }


def mentions_null(entry: Any) -> bool:
    """Whether an entry of a scheme file says that its column had NULLs."""
    if not isinstance(entry, Mapping):
        return False
    groups = entry.get("groups")
    listed = isinstance(groups, list) and any(isinstance(g, list) and None in g for g in groups)
    return listed or "null" in entry


def from_document(document: Any, columns: Sequence[Column], origin: str = "scheme") -> Scheme:
    """The scheme that a document means for these columns; every mistake is a SchemeError."""
    if not isinstance(document, Mapping) or not isinstance(document.get("columns"), Mapping):
        raise SchemeError(f'{origin}: expected an object with "columns"')
    check_version(document, origin)
    given = document["columns"]
    names = [c.name for c in columns]
    for name in given:
        if name not in names:
            near = get_close_matches(str(name), names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
            raise SchemeError(f"{origin}: {name!r} is not a quasi-identifier of the policy{hint}")
    missing = [name for name in names if name not in given]
    if missing:
        raise SchemeError(f"{origin}: no partition for {', '.join(map(repr, missing))}")
    partitions = [_read(c, given[c.name], f"{origin}: column {c.name!r}") for c in columns]
    required_k = document.get("required_k")
    if required_k is not None and (type(required_k) is not int or required_k < 1):
        raise SchemeError(
            f"{origin}: required_k is {required_k!r}, expected a whole number of at least 1"
        )
    return Scheme(tuple(columns), tuple(partitions), required_k=required_k)


def check_version(document: Mapping[str, Any], origin: str) -> None:
    """Refuses a scheme or a result that another version of sqlanon wrote."""
    version = document.get("version", VERSION)
    if version != VERSION:
        raise SchemeError(
            f"{origin}: format version {version!r} is not supported; "
            f"this sqlanon reads version {VERSION}"
        )


def write_scheme(scheme: Scheme, path: str | Path) -> None:
    """Writes a scheme file."""
    write_document(to_document(scheme), path)


def write_document(document: Mapping[str, Any], path: str | Path) -> None:
    """Writes JSON; a new file is for its owner only, because it may list observed values."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    try:
        with open(path, "w", encoding="utf-8", opener=_for_its_owner) as file:
            file.write(text + "\n")
    except OSError as error:
        raise SchemeError(f"{path}: cannot be written ({error.strerror})") from None


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _written(column: Column, partition: Partition) -> dict[str, Any]:
    level = column.level_of(partition)
    if column.family is Family.FULL_DOMAIN and level is not None:
        entry: dict[str, Any] = {"level": level}
        if column.hierarchy is not None:
            entry["hierarchy"] = column.hierarchy.fingerprint
        if column.domain.has_null:
            entry["null"] = "apart" if partition.cuts else "merged"
        return entry
    domain = column.domain
    if domain.is_sorted:
        starts = [start for start, _ in partition.runs[1:] if start < domain.width]
        entry = {"cuts": [json_value(domain.left_ends[start]) for start in starts]}
        if domain.has_null:
            entry["null"] = "apart" if partition.cuts else "merged"
        return entry
    return {
        "groups": [
            [json_value(domain.left_ends[a]) if a < domain.width else None for a in range(*run)]
            for run in partition.runs
        ]
    }


def _read(column: Column, entry: Any, where: str) -> Partition:
    partition = _read_form(column, entry, where)
    beyond = column.beyond_limits(partition)
    if beyond is not None:
        raise SchemeError(f"{where}: its partition {beyond}")
    return partition


def _read_form(column: Column, entry: Any, where: str) -> Partition:
    forms = [form for form in FORMS if isinstance(entry, Mapping) and form in entry]
    if len(forms) != 1:
        raise SchemeError(f"{where}: expected one of {', '.join(FORMS)}, found {entry!r}")
    form = forms[0]
    extra = set(entry) - {form} - FORMS[form]
    if extra:
        raise SchemeError(f"{where}: unknown key {min(map(str, extra))!r} beside {form!r}")
    if form == "level":
        return _read_level(column, entry, where)
    if not isinstance(entry[form], list):
        raise SchemeError(f"{where}: {form} is not a list")
    if form == "cuts":
        return _read_cuts(column, entry, where)
    return _read_groups(column, entry["groups"], where)


def _read_level(column: Column, entry: Mapping[str, Any], where: str) -> Partition:
    level = entry["level"]
    if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= column.height:
        raise SchemeError(f"{where}: level {level!r} is not one of 0 to {column.height}")
    known = column.hierarchy.fingerprint if column.hierarchy else None
    if entry.get("hierarchy", known) != known:
        raise SchemeError(
            f"{where}: the hierarchy has changed since the scheme was written, so level {level} "
            "may mean something else; search again, or write the scheme as groups"
        )
    return column.levels[level]


def _read_cuts(column: Column, entry: Mapping[str, Any], where: str) -> Partition:
    domain = column.domain
    if not domain.is_sorted:
        raise SchemeError(f"{where}: cuts need an ordered column; write groups or a level")
    atoms = {sort_key(v): i for i, v in enumerate(domain.left_ends)}
    positions = set()
    for raw in entry["cuts"]:
        atom = atoms.get(sort_key(_value(raw, column, where)))
        if not atom:
            near = ", ".join(format_value(v) for v in domain.left_ends[1:6])
            raise SchemeError(
                f"{where}: {raw!r} is not a place to cut; cuts are left ends of atoms "
                f"other than the first: {near or 'none'}{', …' if domain.width > 6 else ''}"
            )
        positions.add(atom - 1)
    null = entry.get("null")
    if null not in (None, "apart", "merged"):
        raise SchemeError(f'{where}: null is {null!r}, not "apart" or "merged"')
    if domain.has_null:
        if null is None:
            raise SchemeError(f'{where}: the column has NULLs; say "null": "apart" or "merged"')
        if null == "merged" and positions:
            raise SchemeError(f"{where}: NULL can be merged only when there are no cuts")
        if null == "apart" and domain.width:
            positions.add(column.positions - 1)
    return Partition(column.size, tuple(sorted(positions)))


def _read_groups(column: Column, groups: Sequence[Any], where: str) -> Partition:
    domain = column.domain
    atoms: dict[object, int] = {sort_key(v): i for i, v in enumerate(domain.left_ends)}
    if domain.has_null:
        atoms[None] = domain.width
    group_of: dict[int, int] = {}
    for number, group in enumerate(groups):
        if not isinstance(group, list) or not group:
            raise SchemeError(f"{where}: group {number + 1} is not a list of values")
        for raw in group:
            key = None if raw is None else sort_key(_value(raw, column, where))
            if key not in atoms:
                raise SchemeError(f"{where}: {raw!r} is not in the domain")
            if atoms[key] in group_of:
                twice = "in two groups" if group_of[atoms[key]] != number else "listed twice"
                raise SchemeError(f"{where}: {raw!r} is {twice}")
            group_of[atoms[key]] = number
    missing = [i for i in range(column.size) if i not in group_of]
    if missing:
        names = [domain.atom_label(i) if i < domain.width else "NULL" for i in missing[:5]]
        raise SchemeError(f"{where}: no group has {', '.join(map(repr, names))}")
    try:
        partition = Partition.from_groups([group_of[i] for i in range(column.size)])
    except SchemeError as error:
        raise SchemeError(f"{where}: {error}") from None
    if not column.is_canonical(partition):
        raise SchemeError(
            f"{where}: null shares a group with values; it stands apart or all is one"
        )
    return partition


def _value(raw: Any, column: Column, where: str) -> Value:
    try:
        return parse_value(raw, column.domain.kind)
    except DomainError as error:
        raise SchemeError(f"{where}: {error}") from None
