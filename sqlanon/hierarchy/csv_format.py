"""Hierarchies as CSV files in the format of ARX.

No header; one line a leaf, one field a level, the leaf first and the root last; separated
by ``;`` or ``,``. Fields are quoted with ``"``, doubled inside.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from sqlanon.errors import HierarchyError
from sqlanon.hierarchy.files import read_text, write_text
from sqlanon.hierarchy.tree import Hierarchy

_SEPARATORS = ";,"

_Line: TypeAlias = tuple[int, list[str]]  # number of its first line in the file, its fields


def read_csv(path: str | Path) -> Hierarchy:
    """The hierarchy in a CSV file; the separator is found out, blank lines are skipped.

    The separator is the one that divides every line into the same number of fields, two or
    more; ``;`` where both do. A file that is one value alone is a leaf that is its own root.
    """
    path = Path(path)
    lines = _divided(read_text(path), str(path))
    places = [f"line {number}" for number, _ in lines]
    try:
        return Hierarchy.from_rows([fields for _, fields in lines], str(path), places)
    except HierarchyError as error:
        if _begins_with_header(lines):
            raise HierarchyError(
                f"{error} But {places[0]} looks like a header, since no other line differs in the "
                "last level; if it is one, leave it out instead."
            ) from None
        raise


def write_csv(hierarchy: Hierarchy, path: str | Path, separator: str = ";") -> None:
    """Write a CSV file that `read_csv` turns back into the same hierarchy."""
    if separator not in tuple(_SEPARATORS):
        raise HierarchyError(f"Separator {separator!r} is not possible. Use ';' or ','.")
    rows = list(zip(*hierarchy.levels, strict=True))
    texts = [text for row in rows for text in row]
    other = _SEPARATORS.replace(separator, "")
    # Only where the other separator could be mistaken for this one does everything need
    # quotes: between quoted fields a reader accepts no separator but the right one.
    everything = any('"' in text for text in texts) or (
        (separator == "," or hierarchy.height == 0) and any(other in text for text in texts)
    )
    lines = (
        separator.join(_quoted(text) if everything else _field(text, separator) for text in row)
        for row in rows
    )
    write_text(Path(path), "".join(f"{line}\n" for line in lines))


def _field(text: str, separator: str) -> str:
    # A leading U+FEFF would be read as the file's byte order mark.
    special = not text or text != text.strip() or text.startswith("\ufeff")
    return _quoted(text) if special or any(c in text for c in f"{separator}\r\n") else text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _divided(text: str, origin: str) -> list[_Line]:
    parsed: list[list[_Line]] = []
    problems: list[str] = []
    for separator in _SEPARATORS:
        try:
            lines = _parse(text, separator)
        except csv.Error as error:
            problems.append(f"with {separator!r}, {error}")
            continue
        if not lines:
            return lines
        if len(lines[0][1]) > 1 and (odd := _first_of_other_length(lines)) is not None:
            number, fields = lines[odd]
            problems.append(
                f"with {separator!r}, line {lines[0][0]} has {len(lines[0][1])} fields "
                f"but line {number} has {len(fields)}"
            )
            continue
        parsed.append(lines)
    tables = [lines for lines in parsed if len(lines[0][1]) > 1]
    if tables:
        # A quote that opens in the middle of a field hints that the separator is wrong.
        return min(tables, key=_has_dangling_quote)
    if len(parsed) == len(_SEPARATORS) and len(parsed[0]) == 1:
        return parsed[0]
    if not problems:
        problems.append("the first line is one field alone")
    raise HierarchyError(
        f"Hierarchy {origin}: neither ';' nor ',' divides every line into the same number of "
        f"fields, two or more ({'; '.join(problems)}). "
        "Give every line one label a level, and quote labels that contain the separator."
    )


def _parse(text: str, separator: str) -> list[_Line]:
    """The lines that are not blank; raises csv.Error, with the line, on broken quoting."""
    raw: list[str] = []

    def feed() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            raw.append(line)
            yield line

    reader = csv.reader(feed(), delimiter=separator, strict=True)
    lines = []
    number = 1
    try:
        for fields in reader:
            if "".join(raw).strip():
                lines.append((number, fields))
            raw.clear()
            number = reader.line_num + 1
    except csv.Error as error:
        raise csv.Error(f"line {number} is broken: {error}") from None
    return lines


def _first_of_other_length(lines: Sequence[_Line]) -> int | None:
    length = len(lines[0][1])
    return next((i for i, (_, fields) in enumerate(lines) if len(fields) != length), None)


def _begins_with_header(lines: Sequence[_Line]) -> bool:
    """Whether all lines but the first, several of them, have the same root."""
    roots = [fields[-1] for _, fields in lines]
    return len(roots) > 2 and len(set(roots[1:])) == 1 and roots[0] != roots[1]


def _has_dangling_quote(lines: Sequence[_Line]) -> bool:
    return any(text.count('"') % 2 for _, fields in lines for text in fields)
