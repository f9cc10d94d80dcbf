"""A hash of a table's rows that does not depend on their order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from sqlglot import exp

from sqlanon.audit.cells import canonical_text, column, compared, described, one_person, person
from sqlanon.engines import ColumnInfo, Engine, Kind, Source
from sqlanon.render import render

HASH_VERSION: Final = 2
HashVersion = Literal[1, 2]
"""Which texts are hashed: those of docs/certificate.md, or what DuckDB writes for a value."""

PARTS, PART_DIGITS = 4, 8


@dataclass(frozen=True)
class HashedRows:
    """The rows of a table, those that are unique, and the hash of all of them."""

    rows: int
    unique: int
    hash: str


def table_hash(
    source: Source,
    columns: Sequence[str],
    version: HashVersion = HASH_VERSION,
    *,
    grouped: bool = True,
) -> str:
    """The hash of some columns of a table, in their order.

    It is the SHA-256 of its version, the columns' names, the number of rows, and the sums of both
    halves of the MD5 of every row's text, see docs/certificate.md. The same rows give the same
    hash in whatever order they stand, on every engine, on any number of threads, and whether they
    are read from a table or from Parquet. Duplicates count.

    It shows that a table was changed. It does not withstand someone who can choose the contents
    of millions of rows freely in order to forge a given sum.

    With `grouped` equal rows are hashed once. That changes nothing but the time, and pays unless
    most rows are unique.
    """
    return hashed_rows(source, columns, version=version, grouped=grouped).hash


def hashed_rows(
    source: Source,
    columns: Sequence[str],
    *,
    subject: str | None = None,
    version: HashVersion = HASH_VERSION,
    grouped: bool = True,
) -> HashedRows:
    """The hash of some columns, and the rows whose values only one row has, in one query.

    With a `subject` these are the rows whose values only one person has. Without `grouped` they
    are not looked for, and `unique` is 0.
    """
    engine, infos = source.engine, described(source, columns)
    named = [replace(info, name=f"v{j}") for j, info in enumerate(infos)]
    whose = None if subject is None else person(described(source, [subject])[0])
    query = render(
        "audit/fingerprint.sql",
        dialect=engine.dialect,
        source=source.relation,
        values={f"v{j}": compared(info) for j, info in enumerate(infos)},
        grouped=grouped,
        one_person=one_person(whose),
        texts={f"t{j}": _text(engine, info, version) for j, info in enumerate(named)},
        hash=exp.MD5(this=exp.Anonymous(this="CONCAT", expressions=_parts(len(infos)))),
        sums={f"sum{part}": _sum_of(engine, part) for part in range(PARTS)},
    )
    (found,) = engine.fetch(query).to_pylist()
    sums = [int(found[f"sum{part}"] or 0) for part in range(PARTS)]
    bits = 4 * PART_DIGITS
    halves = [str((sums[part] << bits) + sums[part + 1]) for part in (0, 2)]
    document = [version, list(columns), found["n_rows"], *halves]
    text = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    return HashedRows(found["n_rows"], found["n_unique"], text)


def _text(engine: Engine, info: ColumnInfo, version: HashVersion) -> exp.Expr:
    """A value as the text that is hashed; NULL stays NULL."""
    if version == 1 or info.kind not in (Kind.DECIMAL, Kind.FLOAT):
        return canonical_text(info)
    if info.kind is Kind.FLOAT:
        return engine.text_of_float(column(info.name))
    return _plain_decimal(exp.cast(column(info.name), "text"))


def _plain_decimal(text: exp.Expr) -> exp.Expr:
    """A decimal without zeros at its end, and with a digit before its point: 0.5 for .50."""
    point, zero = exp.Literal.string("."), exp.Literal.string("0")

    def starts_with(start: str) -> exp.Expr:
        length = exp.convert(len(start))
        first = exp.Substring(this=text.copy(), start=exp.convert(1), length=length)
        return exp.EQ(this=first, expression=exp.Literal.string(start))

    def without(ending: exp.Expr, value: exp.Expr) -> exp.Expr:
        return exp.Trim(this=value, expression=ending, position="TRAILING")

    short = without(point, without(zero, text.copy()))
    rest = exp.Substring(this=short.copy(), start=exp.convert(2))
    place = exp.StrPosition(this=text.copy(), substr=point)
    has_point = exp.GT(this=place, expression=exp.convert(0))
    cases = [
        (starts_with("."), exp.DPipe(this=zero, expression=short)),
        (starts_with("-."), exp.DPipe(this=exp.Literal.string("-0"), expression=rest)),
        (has_point, short),
    ]
    return exp.Case(ifs=[exp.If(this=when, true=then.copy()) for when, then in cases], default=text)


def _parts(columns: int) -> list[exp.Expr]:
    """What a row's text is made of: for every column the length, a colon, and the text."""
    parts: list[exp.Expr] = []
    for text in (column(f"t{j}") for j in range(columns)):
        length = exp.Coalesce(this=exp.Length(this=text), expressions=[exp.convert(-1)])
        value = exp.Coalesce(this=text.copy(), expressions=[exp.Literal.string("")])
        parts += [exp.cast(length, "text"), exp.Literal.string(":"), value]
    return parts


def _sum_of(engine: Engine, part: int) -> exp.Expr:
    """The sum of one quarter of the hashes, each as often as its row occurs."""
    start, length = exp.convert(1 + part * PART_DIGITS), exp.convert(PART_DIGITS)
    digits = exp.Substring(this=column("h"), start=start, length=length)
    number = engine.number_of(digits)
    return exp.Sum(this=exp.Mul(this=column("n"), expression=number))
