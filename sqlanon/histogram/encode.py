"""Fetched values made into atom numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlanon.domain import Domain, IntervalDomain, ValueDomain
from sqlanon.errors import DomainError
from sqlanon.histogram.atoms import OUTSIDE
from sqlanon.histogram.histogram import Codes, Ints
from sqlanon.model import Kind, Value, format_value, parse_value, sort_key
from sqlanon.model import counted as amount

"""How many offending values a message names."""


@dataclass(frozen=True)
class Counted:
    """A column of the source that is counted: its SQL, and its domain where that is declared."""

    name: str
    kind: Kind
    expression: exp.Expr
    domain: Domain | None = None


@dataclass(frozen=True)
class Encoded:
    """A fetched column as atom numbers of its final domain.

    Entries whose value the declared domain does not cover have the code OUTSIDE;
    `uncovered` names such values with their rows, most first.
    """

    domain: Domain
    codes: Codes
    uncovered: tuple[tuple[str, int], ...] = ()


def encode(counted: Counted, fetched: pa.ChunkedArray, rows: Ints) -> Encoded:
    """The codes of a fetched column; `rows` weigh its entries in messages."""
    if isinstance(counted.domain, IntervalDomain):
        return _encode_intervals(counted.domain, fetched)
    values, indices = dictionary(counted, fetched)
    has_null = fetched.null_count > 0
    domain = counted.domain
    if domain is None:
        domain = ValueDomain.observed(counted.name, counted.kind, [*values, *[None] * has_null])
    elif has_null:
        domain = ValueDomain(domain.column, domain.kind, domain.values, has_null=True)
    atoms = [domain.codes.get(sort_key(v), OUTSIDE) for v in values]
    # Index -1 (NULL) picks the last entry.
    table = np.array([*atoms, domain.width], dtype=np.int32)
    codes = table[indices]
    if OUTSIDE not in atoms:
        return Encoded(domain, codes)
    weights = np.bincount(indices + 1, rows, minlength=len(values) + 1)[1:].astype(np.int64)
    outside = [(format_value(v), int(w)) for v, a, w in zip(values, atoms, weights, strict=True)
               if a == OUTSIDE]  # fmt: skip
    return Encoded(domain, codes, tuple(sorted(outside, key=lambda pair: (-pair[1], pair[0]))))


def _encode_intervals(domain: IntervalDomain, fetched: pa.ChunkedArray) -> Encoded:
    if fetched.null_count:
        domain = domain.with_null()
        fetched = pc.fill_null(fetched, domain.width)
    codes = np.asarray(fetched.cast(pa.int32()), dtype=np.int32)
    return Encoded(domain, codes)


def dictionary(counted: Counted, fetched: pa.ChunkedArray) -> tuple[list[Value], Codes]:
    """The distinct values of a column, and for each entry which one it is (-1 for NULL)."""
    array = pc.dictionary_encode(fetched).combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([]).dictionary_encode()
    indices = np.asarray(pc.fill_null(array.indices, -1), dtype=np.int32)
    try:
        return [_value(v, counted.kind) for v in array.dictionary.to_pylist()], indices
    except (OverflowError, ValueError):  # infinity, years before 1 and after 9999
        raise DomainError(
            f"column {counted.name!r}: a {counted.kind} lies outside the years 1 to 9999; "
            "correct it, cast the column to text in the source query, or leave the row out"
        ) from None


def _value(raw: Any, kind: Kind) -> Value:
    if kind is Kind.FLOAT and math.isnan(raw):
        return math.nan
    return parse_value(raw, kind)


def describe_uncovered(name: str, uncovered: Sequence[tuple[str, int]], declared: str) -> str:
    """Says how many values a declared domain lacks, and how many rows have them."""
    rows = sum(count for _, count in uncovered)
    return (
        f"column {name!r}: {amount(rows, 'row')} {'have' if rows != 1 else 'has'} "
        f"{amount(len(uncovered), 'value')} outside {declared}"
    )
