"""References to schemes: scheme.json, result.json (its chosen solution), or result.json#N."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlanon.documents import read_json
from sqlanon.errors import NoSolutionError, SchemeError
from sqlanon.scheme.column import Column
from sqlanon.scheme.scheme import Scheme
from sqlanon.scheme.scheme_file import check_version, from_document


def read_scheme(reference: str | Path, columns: Sequence[Column]) -> Scheme:
    """The scheme of a scheme file, or of a solution in a result file.

    `result.json` stands for its chosen solution, `result.json#2` for solution 2, counted
    from 0 as in the file.
    """
    return from_document(read_document(reference), columns, str(reference))


def read_document(reference: str | Path) -> Any:
    """The document of a scheme file, or of a solution in a result file (see read_scheme)."""
    path, number = split_reference(reference)
    document = read_json(path, SchemeError)
    if isinstance(document, Mapping) and "solutions" in document:
        return _document_in(document, _solution(document, number, str(reference)))
    if number:
        raise SchemeError(f"{path}: is a scheme, not a result with numbered solutions")
    return document


def read_result(reference: str | Path) -> Mapping[str, Any] | None:
    """The whole result that a reference names a solution of; None for a scheme file."""
    document = read_json(split_reference(reference)[0], SchemeError)
    is_result = isinstance(document, Mapping) and "solutions" in document
    return document if is_result else None


def falls_short(reference: str | Path) -> bool:
    """Whether a reference names a solution that its result says is not feasible."""
    return solution_in(reference).get("feasible") is False


def solution_in(reference: str | Path) -> Mapping[str, Any]:
    """The solution that a reference names, with its scores; empty where it names a scheme file."""
    result = read_result(reference)
    if result is None:
        return {}
    return _solution(result, split_reference(reference)[1], str(reference))


def split_reference(reference: str | Path) -> tuple[Path, str]:
    """The file that a reference names, and the number of the solution, empty where none is."""
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
    """The solution of a result that a reference means."""
    solutions = result["solutions"]
    check_version(result, origin)
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


def _document_in(result: Mapping[str, Any], solution: Mapping[str, Any]) -> Any:
    """The scheme of a solution as a document of its own."""
    document = {"columns": solution.get("columns")}
    if "required_k" in solution:
        document["required_k"] = solution["required_k"]
    return {**document, "domains": result["domains"]} if "domains" in result else document
