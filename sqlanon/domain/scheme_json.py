"""scheme.json: a scheme in names and values, so that people can read it and it stays valid
when other values join the data.

    {"format": "sqlanon scheme", "version": 3, "recoding": "global",
     "columns": {"age": {"cuts": [25, 40, 60]},
                 "education": {"groups": [["10th", "11th"], ["Bachelors"]]},
                 "race": {"level": 1, "hierarchy": "5f0c…"},
                 "place": {"runs": [["Aalst", 0], ["Bergen", 2]], "domain": "91b2…"}},
     "domains": {"age": {"values": [17, 18, 19, …], "null": true}},
     "required_k": 5}

A column of very many values is written in `runs`: from a value on the groups are those of a level,
and the last of them ends where the next run begins.

`recoding` says how the scheme generalizes; "global" is one partition per column, in `columns`.
"multidimensional" has in `tree` the splits of a cut tree and in `boxes` what is released of its
regions, where that is less, and in `columns` the partitions of the columns that the tree leaves
alone; one that neither has is one group.
`domains` lists the values of columns whose domain was observed in the data, so that a later
run knows which values are new. `required_k` is the k that the scheme was scored for, where that
is not the policy's.

    "tree": {"1": ["age", "<", 40, 2, 3],
             "2": ["education", "in", ["10th", "11th"], 4, 5],
             "3": ["race", "not null", null, 6, 7]}

Node 1 of a tree is the whole table. What meets the condition of a node goes on at the first of the
two numbers, everything else at the second; a number without a split of its own is a region. "<" is
for columns whose values have an order. Of others, "in" lists the values of the node that go on at
the first number, and "not in" those that go on at the second, whichever are fewer. They stand at
one end of the node's values in the order of the hierarchy.

    "boxes": {"4": {"age": [20, 35], "education": ["10th"]},
              "6": {"age": [60, null], "race": [null]}}

A box is what is released of a region, where that is less than the region. Of a column with an
order it has the first value and the one after the last, or null where the column ends; of others
all values; and [null] is NULL alone. A column that it lacks is as in the region.

A reference names a scheme: scheme.json, result.json (its chosen solution), or result.json#N.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from sqlanon.documents import RESULT_FORMAT, SCHEME_FORMAT, read_json, version_of
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Family, Partition, null_apart
from sqlanon.domain.cut_tree import ROOT, CutTree, Regions, Run
from sqlanon.domain.scheme import Scheme
from sqlanon.domain.values import Value, format_value, json_value, parse_value, sort_key
from sqlanon.errors import DomainError, NoSolutionError, SchemeError

VERSION = 3
"""The version of scheme and result files that is written; older ones are read.

Version 3 has the form `runs`. Version 1 had no format, and listed NULL among the values.
"""


class Recoding(StrEnum):
    """Whether a label means the same in the whole table, or what a cut tree says."""

    GLOBAL = "global"
    MULTIDIMENSIONAL = "multidimensional"


class Labels(StrEnum):
    """What is released of a region: all of it, or the box around its rows.

    Snapped boxes end at lines that are known without the rows, tight ones at values that occur.
    """

    REGION = "region"
    SNAPPED = "snapped"
    TIGHT = "tight"


FORMS = {
    "cuts": {"null"},
    "groups": set(),
    "level": {"hierarchy", "null"},
    "runs": {"domain", "hierarchy", "null"},
}
"""The ways to write a partition, each with the keys that may stand beside it."""

MOST_NAMED = 1_000
"""A partition that would name more values is written in runs."""


def to_document(scheme: Scheme) -> dict[str, Any]:
    """The scheme as the JSON document of a scheme file."""
    tree, parts = scheme.tree, scheme.by_name.values()
    document: dict[str, Any] = {
        "format": SCHEME_FORMAT,
        "version": VERSION,
        "recoding": str(Recoding.GLOBAL if tree is None else Recoding.MULTIDIMENSIONAL),
        "columns": {c.name: _written(c, p) for c, p, runs in parts if runs is None},
    }
    if tree is not None:
        document["tree"] = tree_to_document(tree, scheme.columns)
        if boxes := boxes_to_document(tree, scheme.columns):
            document["boxes"] = boxes
        if nulls := [
            c.name
            for c, _, runs in parts
            if runs is not None and c.domain.has_null and not mentions_null(document, c.name)
        ]:
            document["nulls"] = nulls
    if scheme.required_k is not None:
        document["required_k"] = scheme.required_k
    domains = observed_domains(scheme.columns)
    return {**document, "domains": domains} if domains else document


def observed_domains(columns: Sequence[Column]) -> dict[str, dict[str, Any]]:
    """The values of the columns whose domain comes from the data."""
    return {
        c.name: {"values": [*map(json_value, c.domain.values)], "null": c.domain.has_null}
        for c in columns
        if isinstance(c.domain, ValueDomain) and c.domain.is_observed
    }


def listed_values(document: Mapping[str, Any], name: str, origin: str) -> list[Any] | None:
    """The values that a document lists for a column, with None for NULL; None if it lists none."""
    domain = document["domains"].get(name)
    if domain is None:
        return None
    values = domain.get("values") if isinstance(domain, Mapping) else None
    listed = [*values, *[None] * bool(domain.get("null"))] if isinstance(values, list) else []
    if not listed:
        raise SchemeError(f"{origin}: domains: column {name!r}: expected a list of values")
    return listed


def mentions_null(document: Mapping[str, Any], name: str) -> bool:
    """Whether a scheme file says that a column had NULLs."""
    splits, entry = document.get("tree"), document["columns"].get(name)
    if isinstance(splits, Mapping) and any(
        isinstance(split, list) and split[:2] == [name, "not null"] for split in splits.values()
    ):
        return True
    nulls = document.get("nulls")
    if isinstance(nulls, list) and name in nulls:
        return True
    if not isinstance(entry, Mapping):
        return False
    groups = entry.get("groups")
    listed = isinstance(groups, list) and any(isinstance(g, list) and None in g for g in groups)
    return listed or "null" in entry


def upgraded(document: Any, origin: str = "scheme") -> dict[str, Any]:
    """A scheme's document of any version in the form of the newest."""
    if not isinstance(document, Mapping):
        document = {}
    version = version_of(document, SCHEME_FORMAT, VERSION, origin, SchemeError)
    recoding = document.get("recoding", Recoding.GLOBAL)
    if recoding not in (Recoding.GLOBAL, Recoding.MULTIDIMENSIONAL):
        raise SchemeError(
            f"{origin}: recoding {recoding!r} is not supported; this sqlanon reads "
            + " and ".join(repr(str(each)) for each in Recoding)
        )
    if (recoding == Recoding.MULTIDIMENSIONAL) != ("tree" in document):
        raise SchemeError(
            f"{origin}: a tree goes with recoding 'multidimensional', and with no other"
        )
    if "boxes" in document and "tree" not in document:
        raise SchemeError(f"{origin}: boxes go with a tree, and the scheme has none")
    if not isinstance(document.get("columns"), Mapping):
        raise SchemeError(
            f'{origin}: is no result of a search and no scheme; expected an object with "columns"'
        )
    domains = document.get("domains", {})
    if not isinstance(domains, Mapping):
        raise SchemeError(f"{origin}: domains: expected columns with their values")
    if version == 1:
        domains = {name: _upgraded_domain(domain) for name, domain in domains.items()}
    newest = {"format": SCHEME_FORMAT, "version": VERSION, "recoding": recoding}
    return {**newest, **document, "version": VERSION, "domains": domains}


def _upgraded_domain(domain: Any) -> Any:
    """Version 1 listed the values of a column, with null among them."""
    if not isinstance(domain, list):
        return domain
    return {"values": [v for v in domain if v is not None], "null": None in domain}


def from_document(document: Any, columns: Sequence[Column], origin: str = "scheme") -> Scheme:
    """The scheme that a document means for these columns; every mistake is a SchemeError."""
    document = upgraded(document, origin)
    given = document["columns"]
    names = [c.name for c in columns]
    for name in given:
        if name not in names:
            near = get_close_matches(str(name), names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
            raise SchemeError(f"{origin}: {name!r} is not a quasi-identifier of the policy{hint}")
    missing = [name for name in names if name not in given]
    if missing and "tree" not in document:
        raise SchemeError(f"{origin}: no partition for {', '.join(map(repr, missing))}")
    partitions = {
        j: _read(c, given[c.name], f"{origin}: column {c.name!r}")
        for j, c in enumerate(columns)
        if c.name in given
    }
    required_k = document.get("required_k")
    if required_k is not None and (type(required_k) is not int or required_k < 1):
        raise SchemeError(
            f"{origin}: required_k is {required_k!r}, expected a whole number of at least 1"
        )
    if "tree" not in document:
        return Scheme(tuple(columns), tuple(partitions.values()), required_k=required_k)
    tree, moved = tree_from_document(document["tree"], columns, origin)
    if "boxes" in document:
        tree = with_boxes(tree, document["boxes"], columns, origin, moved)
    twice = [name for name in tree.cut_names if name in given]
    if twice:
        raise SchemeError(
            f"{origin}: column {twice[0]!r} has a partition, and the tree cuts it too"
        )
    refined = refined_partitions(tree, columns, partitions)
    try:
        return Scheme(tuple(columns), refined, required_k=required_k, tree=tree)
    except SchemeError as error:
        raise SchemeError(f"{origin}: {error}") from None


def write_document(document: Mapping[str, Any], path: str | Path) -> None:
    """Writes JSON; a new file is for its owner only, because it may list observed values."""
    try:
        with open(path, "w", encoding="utf-8", opener=_for_its_owner) as file:
            file.writelines(_lines(document))
            file.write("\n")
    except OSError as error:
        raise SchemeError(f"{path}: cannot be written ({error.strerror})") from None


def _lines(value: Any, indent: str = "\n") -> Iterator[str]:
    """JSON with a line for each key, and a list of values or of short lists on one line."""
    inner = indent + "  "
    if isinstance(value, Mapping) and value:
        for number, (key, each) in enumerate(value.items()):
            yield f"{',' if number else '{'}{inner}{json.dumps(key, ensure_ascii=False)}: "
            yield from _lines(each, inner)
        yield indent + "}"
    elif isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in value):
        for number, each in enumerate(value):
            yield f"{',' if number else '['}{inner}"
            yield from _lines(each, inner)
        yield indent + "]"
    else:
        yield json.dumps(value, ensure_ascii=False)


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _written(column: Column, partition: Partition) -> dict[str, Any]:
    """The shortest form that stays readable."""
    level = column.level_of(partition)
    if column.family is Family.FULL_DOMAIN and level is not None:
        entry: dict[str, Any] = {"level": level}
        if column.hierarchy is not None:
            entry["hierarchy"] = column.hierarchy.fingerprint
        if column.domain.has_null:
            entry["null"] = "apart" if partition.cuts else "merged"
        return entry
    domain = column.domain
    null = {"null": "apart" if partition.cuts else "merged"} if domain.has_null else {}
    if domain.is_sorted:
        starts = [start for start, _ in partition.runs[1:] if start < domain.width]
        runs = _runs(column, partition) if len(starts) > MOST_NAMED else starts
        if len(runs) >= len(starts) / 2:
            return {"cuts": [json_value(domain.left_ends[start]) for start in starts], **null}
    if domain.width > MOST_NAMED:
        return {"runs": _runs(column, partition), **_tree(column), **null}
    return {
        "groups": [
            [json_value(domain.left_ends[a]) if a < domain.width else None for a in range(*run)]
            for run in partition.runs
        ]
    }


def _tree(column: Column) -> dict[str, str]:
    """What runs refer to: the hierarchy, and the values in their order."""
    tree = {} if column.hierarchy is None else {"hierarchy": column.hierarchy.fingerprint}
    return {**tree, "domain": column.domain.fingerprint_of_values}


def _runs(column: Column, partition: Partition) -> list[list[Any]]:
    """Runs of groups as [first value, level].

    Each run goes on with the level that holds for most values from there. The root, which has no
    cuts, holds for any single group.
    """
    width, ends = column.domain.width, column.domain.left_ends
    if not width:
        return []
    cut = partition.bits[: width - 1]
    starts = np.concatenate(([0], np.flatnonzero(cut) + 1))
    others = [np.flatnonzero(cut != level.bits[: width - 1]) for level in column.levels]
    runs, start = [], 0
    while start < width:
        stops = []
        for differing in others:
            place = np.searchsorted(differing, start)
            if place == len(differing):
                stops.append(width)
                continue
            position = int(differing[place])
            group = int(starts[np.searchsorted(starts, position, side="right") - 1])
            stops.append(position + 1 if cut[position] else group)
        level = int(np.argmax(stops))
        runs.append([json_value(ends[start]), level])
        start = stops[level]
    return runs


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
    if form == "runs":
        return _read_runs(column, entry, where)
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
    atoms = _codes(column)
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
    return _with_null(column, positions, entry, where)


def _with_null(
    column: Column, positions: set[int], entry: Mapping[str, Any], where: str
) -> Partition:
    """The partition with these cuts between values, and NULL as the entry says."""
    null = entry.get("null")
    if null not in (None, "apart", "merged"):
        raise SchemeError(f'{where}: null is {null!r}, not "apart" or "merged"')
    if column.domain.has_null:
        if null is None:
            raise SchemeError(f'{where}: the column has NULLs; say "null": "apart" or "merged"')
        if null == "merged" and positions:
            raise SchemeError(f"{where}: NULL can be merged only when there are no cuts")
        if null == "apart" and column.domain.width:
            positions.add(column.positions - 1)
    return Partition(column.size, tuple(sorted(positions)))


def _read_runs(column: Column, entry: Mapping[str, Any], where: str) -> Partition:
    domain, tree = column.domain, _tree(column)
    if any(entry.get(key) != fingerprint for key, fingerprint in tree.items()) or (
        "hierarchy" in entry and "hierarchy" not in tree
    ):
        raise SchemeError(
            f"{where}: the values of the column or their hierarchy have changed since the scheme "
            "was written, so its runs may mean something else; search again"
        )
    codes = _codes(column)
    starts: list[int] = []
    levels: list[int] = []
    for run in entry["runs"]:
        if not isinstance(run, list) or len(run) != 2:
            raise SchemeError(f"{where}: run {run!r} is not [first value, level]")
        atom = codes.get(sort_key(_value(run[0], column, where)))
        if atom is None or (starts and atom <= starts[-1]):
            raise SchemeError(
                f"{where}: {run[0]!r} is not in the domain, or its run is not in its order"
            )
        level = run[1]
        if type(level) is not int or not 0 <= level <= column.height:
            raise SchemeError(f"{where}: level {level!r} is not one of 0 to {column.height}")
        starts.append(atom)
        levels.append(level)
    if domain.width and (not starts or starts[0] != 0):
        raise SchemeError(f"{where}: the first run does not begin with the first value")
    positions = {start - 1 for start in starts[1:]}
    for start, stop, level in zip(starts, [*starts[1:], domain.width], levels, strict=False):
        cuts = column.levels[level].cuts
        positions.update(cuts[bisect_left(cuts, start) : bisect_left(cuts, stop - 1)])
    return _with_null(column, positions, entry, where)


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


def read_document(reference: str | Path) -> dict[str, Any]:
    """The document of a scheme file, or of a solution in a result file.

    `result.json` stands for its chosen solution, `result.json#2` for solution 2, counted
    from 0 as in the file.
    """
    result, solution = read_result(reference), solution_in(reference)
    if result is None:
        path, number = split_reference(reference)
        if number:
            raise SchemeError(f"{path}: is a scheme, not a result with numbered solutions")
        return upgraded(read_json(path, SchemeError), str(reference))
    parts = {"version": result.get("version", 1), "domains": result.get("domains", {})}
    parts |= {"recoding": result.get("recoding", Recoding.GLOBAL)}
    named = ("recoding", "columns", "tree", "boxes", "nulls", "required_k")
    parts |= {key: solution[key] for key in named if key in solution}
    return upgraded(parts, str(reference))


def read_result(reference: str | Path) -> Mapping[str, Any] | None:
    """The whole result that a reference names a solution of; None for a scheme file."""
    document = read_json(split_reference(reference)[0], SchemeError)
    is_result = isinstance(document, Mapping) and "solutions" in document
    return document if is_result else None


def solution_in(reference: str | Path) -> Mapping[str, Any]:
    """The solution that a reference names, with its scores; empty for a scheme file."""
    result = read_result(reference)
    return (
        {} if result is None else _solution(result, split_reference(reference)[1], str(reference))
    )


def split_reference(reference: str | Path) -> tuple[Path, str]:
    """The file that a reference names, and the number of the solution, empty without one."""
    path, number = str(reference), ""
    if "#" in path and not Path(path).exists():  # a folder's or file's own name may have one
        path, _, number = path.rpartition("#")
        if path and not number:
            raise SchemeError(
                f"{str(reference)!r} names no solution; put its number behind the #, or leave both "
                "away for the chosen one"
            )
    if not path:
        raise SchemeError(
            f"{str(reference)!r} names no scheme; give scheme.json, result.json or result.json#N"
        )
    return Path(path), number


def _solution(result: Mapping[str, Any], number: str, origin: str) -> Mapping[str, Any]:
    """The solution with a number, or the chosen one."""
    solutions = result["solutions"]
    version_of(result, RESULT_FORMAT, VERSION, origin, SchemeError)
    if not isinstance(solutions, list) or not all(isinstance(s, Mapping) for s in solutions):
        raise SchemeError(
            f"{origin}: is damaged: solutions is not a list of solutions; search again"
        )
    if not solutions:
        raise SchemeError(f"{origin}: is damaged: it has no solutions; search again")
    chosen = number or result.get("chosen")
    if chosen is None:
        held = next((i for i, each in enumerate(solutions) if each.get("feasible") is True), None)
        if held is not None:  # a walk that was left before a solution was taken
            raise SchemeError(
                f"{origin}: none of its solutions was chosen; name one, such as {origin}#{held}"
            )
        names = f"; to use one that falls short, name it, such as {origin}#0"
        raise NoSolutionError(
            f"{origin}: the search found no solution that reaches the required privacy, so none "
            f"is chosen; search again with weaker requirements or a higher suppression limit{names}"
        )
    if not str(chosen).isdecimal() or int(chosen) >= len(solutions):
        raise SchemeError(
            f"{origin}: there is no solution {chosen}; they are numbered 0 to {len(solutions) - 1}"
        )
    found: Mapping[str, Any] = solutions[int(chosen)]
    return found


CONDITIONS = ("<", "in", "not in", "not null")

Split = tuple[int, int, int, int, int]


def tree_to_document(tree: CutTree, columns: Sequence[Column]) -> dict[str, Any]:
    """The splits by the numbers of their nodes, from the root down."""
    numbers = (each.tolist() for each in (tree.node, tree.column, tree.at, tree.first, tree.second))
    splits = {node: rest for node, *rest in zip(*numbers, strict=True)}
    sizes = [column.size for column in columns]
    document = {}
    waiting: list[tuple[int, dict[int, Run]]] = [(ROOT, {})]
    while waiting:
        node, runs = waiting.pop()
        if node not in splits:
            continue
        j, at, first, second = splits[node]
        start, stop = runs.get(j, (0, sizes[j]))
        condition = _condition(columns[j], start, at, stop)
        document[str(node)] = [columns[j].name, *condition, first, second]
        waiting += [(second, {**runs, j: (at, stop)}), (first, {**runs, j: (start, at)})]
    return document


def _condition(column: Column, start: int, at: int, stop: int) -> list[Any]:
    """What is true of atoms start..at-1 and false of at..stop-1."""
    domain = column.domain
    if at == domain.width:
        return ["not null", None]
    if domain.is_sorted:
        return ["<", json_value(domain.left_ends[at])]
    last = min(stop, domain.width)
    # NULL is not in a list of values, and goes on at the second number.
    if at - start <= last - at or stop > last:
        return ["in", [json_value(value) for value in domain.left_ends[start:at]]]
    return ["not in", [json_value(value) for value in domain.left_ends[at:last]]]


Moved = dict[int, int | None]
"""By number in a file that of the node in its place; None where no row can come."""


def tree_from_document(
    document: Any, columns: Sequence[Column], origin: str
) -> tuple[CutTree, Moved]:
    """The tree that the splits of a document mean for these columns, and where its nodes went.

    A split "not null" of a column that has no NULL any more parts nothing: what its first side
    leads to takes its place, and its second side is left out.
    """
    if not isinstance(document, Mapping):
        raise SchemeError(
            f'{origin}: tree: expected splits by node, such as {{"1": ["age", "<", 40, 2, 3]}}'
        )
    places = {column.name: j for j, column in enumerate(columns)}
    codes = [_codes(column) for column in columns]
    unread = {str(node): split for node, split in document.items()}
    splits: list[Split] = []
    moved: Moved = {}
    waiting: list[tuple[int, int, dict[int, Run]]] = [(ROOT, ROOT, {})]
    while waiting:
        node, place, runs = waiting.pop()
        split = unread.pop(str(node), None)
        if split is None:
            continue
        where = f"{origin}: tree: node {node}"
        name, condition, value, first, second = _parts(split, where)
        if name not in places:
            known = ", ".join(map(repr, places))
            raise SchemeError(
                f"{where}: {name!r} is no quasi-identifier of the policy; it has {known}"
            )
        j = places[name]
        if condition == "not null" and not columns[j].domain.has_null:
            gone = _below(second, unread, origin)
            twice = {first, *gone} & moved.keys() or {first} & {*gone}
            if twice:
                raise SchemeError(f"{origin}: tree: node {min(twice)} is reached in two ways")
            moved |= {first: place} | dict.fromkeys(gone)
            waiting.append((first, place, runs))
            continue
        start, stop = runs.get(j, (0, columns[j].size))
        at = _position(columns[j], codes[j], (start, stop), condition, value, where)
        if not start < at < stop:
            raise SchemeError(
                f"{where}: the split leaves one side without values of {name!r}; the node holds "
                f"{_spelled(columns[j], start, stop)}"
            )
        splits.append((place, j, at, first, second))
        waiting += [
            (second, second, {**runs, j: (at, stop)}),
            (first, first, {**runs, j: (start, at)}),
        ]
    if unread:
        raise SchemeError(
            f"{origin}: tree: no split leads to node {min(unread)}; the first node is {ROOT}"
        )
    try:
        tree = CutTree.of([c.name for c in columns], [c.size for c in columns], splits)
    except SchemeError as error:
        raise SchemeError(f"{origin}: {error}") from None
    if twice := moved.keys() & {number for split in splits for number in split[3:]}:
        raise SchemeError(f"{origin}: tree: node {min(twice)} is reached in two ways")
    return tree, moved


def _below(node: int, unread: dict[str, Any], origin: str) -> list[int]:
    """A node and all that its splits lead to; these splits are taken out of `unread`."""
    found, waiting = list[int](), [node]
    while waiting:
        found.append(waiting.pop())
        split = unread.pop(str(found[-1]), None)
        if split is not None:
            waiting += _parts(split, f"{origin}: tree: node {found[-1]}")[3:]
    return found


def boxes_to_document(tree: CutTree, columns: Sequence[Column]) -> dict[str, Any]:
    """The boxes by the numbers of their nodes; empty where all regions are released whole."""
    document: dict[str, Any] = {}
    whole, boxes = tree.regions, tree.released
    less = (whole.low != boxes.low) | (whole.high != boxes.high)
    for i in np.flatnonzero(less.any(axis=1)).tolist():
        document[str(whole.node[i])] = {
            columns[j].name: _ends(columns[j], int(boxes.low[i, j]), int(boxes.high[i, j]))
            for j in np.flatnonzero(less[i]).tolist()
        }
    return document


def _ends(column: Column, start: int, stop: int) -> list[Any]:
    domain = column.domain
    if start == domain.width:
        return [None]
    if not domain.is_sorted:
        return [*map(json_value, domain.left_ends[start:stop])]
    after = None if stop == domain.width else json_value(domain.left_ends[stop])
    return [json_value(domain.left_ends[start]), after]


def with_boxes(
    tree: CutTree, document: Any, columns: Sequence[Column], origin: str, moved: Moved
) -> CutTree:
    """The tree with the boxes of a document, in whose place for nodes others may stand."""
    if not isinstance(document, Mapping) or not all(
        isinstance(b, Mapping) for b in document.values()
    ):
        raise SchemeError(
            f'{origin}: boxes: expected boxes by node, such as {{"4": {{"age": [20, 35]}}}}'
        )
    places = {column.name: j for j, column in enumerate(columns)}
    codes = [_codes(column) for column in columns]
    of_node = {str(node): i for i, node in enumerate(tree.regions.node.tolist())}
    low, high = tree.regions.low.copy(), tree.regions.high.copy()
    rows = []
    numbers = {str(number): place for number, place in moved.items()}
    for node, box in document.items():
        place = numbers.get(node, node)
        if place is None:
            continue
        if str(place) not in of_node:
            raise SchemeError(f"{origin}: boxes: node {node} is no region of the tree")
        row = of_node[str(place)]
        rows.append(row)
        for name, ends in box.items():
            where = f"{origin}: boxes: node {node}"
            if name not in places:
                raise SchemeError(f"{where}: {name!r} is no quasi-identifier of the policy")
            j = places[name]
            low[row, j], high[row, j] = _run_of(columns[j], codes[j], ends, where)
    try:
        return replace(tree, boxes=Regions(tree.regions.node[rows], low[rows], high[rows]))
    except SchemeError as error:
        raise SchemeError(f"{origin}: {error}") from None


def _run_of(column: Column, codes: Mapping[object, int], ends: Any, where: str) -> Run:
    """The atoms between the ends of a box."""
    domain = column.domain
    if ends == [None] and domain.has_null:
        return domain.width, domain.size
    if ends == [None]:
        raise SchemeError(
            f"{where}: the box of {column.name!r} is NULL alone, and the column has no NULL any "
            "more; search again, or take the box out, which releases the region whole"
        )
    is_pair = not domain.is_sorted or (isinstance(ends, list) and len(ends) == 2)
    if not isinstance(ends, list) or not ends or not is_pair:
        wanted = "[first, after the last]" if domain.is_sorted else "a list of values"
        raise SchemeError(f"{where}: {ends!r} is no box of {column.name!r}; expected {wanted}")

    def atom(raw: Any) -> int:
        found = codes.get(sort_key(_value(raw, column, f"{where}: column {column.name!r}")))
        if found is None:
            raise SchemeError(f"{where}: {raw!r} is not in the domain of {column.name!r}")
        return found

    if domain.is_sorted:
        return atom(ends[0]), domain.width if ends[1] is None else atom(ends[1])
    atoms = sorted(map(atom, ends))
    if atoms != [*range(atoms[0], atoms[0] + len(atoms))]:
        raise SchemeError(
            f"{where}: the values of {column.name!r} are no neighbours in the order of the column"
        )
    return atoms[0], atoms[-1] + 1


def refined_partitions(
    tree: CutTree, columns: Sequence[Column], given: Mapping[int, Partition] | None = None
) -> tuple[Partition, ...]:
    """By column the groups that no split parts, or those that are given for an uncut column."""
    found, cut, given = [], tree.cut_columns, given or {}
    for j, column in enumerate(columns):
        if j not in cut:
            found.append(given.get(j, Partition.whole(column.size)))
            continue
        bits = tree.refined(j).bits
        found.append(Partition.from_bits(null_apart(bits) if column.domain.has_null else bits))
    return tuple(found)


def _codes(column: Column) -> dict[object, int]:
    return {sort_key(value): atom for atom, value in enumerate(column.domain.left_ends)}


def _parts(split: Any, where: str) -> tuple[str, str, Any, int, int]:
    if not isinstance(split, list) or len(split) != 5:
        raise SchemeError(f"{where}: expected [column, condition, value, first, second]")
    name, condition, value, first, second = split
    if condition not in CONDITIONS:
        raise SchemeError(f"{where}: {condition!r} is not one of {', '.join(CONDITIONS)}")
    for number in (first, second):
        if type(number) is not int or number <= ROOT:
            raise SchemeError(f"{where}: {number!r} is no number of a node; they are above {ROOT}")
    return name, condition, value, first, second


def _position(
    column: Column, codes: Mapping[object, int], run: Run, condition: str, value: Any, where: str
) -> int:
    """The first atom that goes on at the second number."""
    domain, (start, stop) = column.domain, run
    if condition == "not null":
        return domain.width
    if condition == "<":
        if not domain.is_sorted:
            raise SchemeError(f"{where}: column {column.name!r} has no order; list values with in")
        at = codes.get(sort_key(_value(value, column, f"{where}: column {column.name!r}")))
        if at is None:
            near = ", ".join(format_value(v) for v in domain.left_ends[1:6])
            raise SchemeError(
                f"{where}: {value!r} is not a place to cut {column.name!r}; places are {near}"
                f"{', …' if domain.width > 6 else ''}"
            )
        return at
    if not isinstance(value, list) or not value:
        raise SchemeError(f"{where}: {condition} needs a list of values")
    atoms = []
    for each in value:
        atom = codes.get(sort_key(_value(each, column, f"{where}: column {column.name!r}")))
        if atom is None:
            raise SchemeError(f"{where}: {each!r} is not in the domain of {column.name!r}")
        atoms.append(atom)
    at = max(atoms) + 1 if condition == "in" else min(atoms)
    expected = range(start, at) if condition == "in" else range(at, min(stop, domain.width))
    if sorted(atoms) != list(expected):
        raise SchemeError(
            f"{where}: the values of {column.name!r} do not stand at one end of the node's, which "
            f"are in the order of the hierarchy {_spelled(column, start, stop)}"
        )
    return at


def _spelled(column: Column, start: int, stop: int, most: int = 8) -> str:
    ends = column.domain.left_ends[start : min(stop, column.domain.width)]
    shown = [format_value(value) for value in ends[:most]]
    return ", ".join(
        [*shown, *["…"] * (len(ends) > most), *["NULL"] * (stop > column.domain.width)]
    )
