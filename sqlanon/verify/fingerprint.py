"""A hash of a table's rows that does not depend on their order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines import Engine
from sqlanon.errors import EngineError
from sqlanon.render import render
from sqlanon.verify.values import canonical_text, column, described

_VERSION = 1
HALF_DIGITS = 16


def table_hash(engine: Engine, relation: exp.Expr, columns: Sequence[str]) -> str:
    """The SHA-256 of the columns' names, the number of rows and the sums of the rows' MD5
    halves.

    The same rows give the same text in whatever order they stand, on any number of threads,
    and whether they are read from a table or from Parquet. Duplicates count. NULL, an empty
    text and the text NULL differ, and no value can run over into its neighbour. -0.0 is 0.0,
    all NaN are one, an instant with a time zone is taken in UTC; other values go by their text.
    The order of `columns` matters.

    It shows that a table was changed. It does not withstand someone who can choose the contents
    of millions of rows freely in order to forge a given sum.
    """
    infos = described(engine, relation, columns)
    texts = [column(f"t{j}") for j in range(len(infos))]
    parts: list[exp.Expr] = []
    for text in texts:
        length = exp.Coalesce(this=exp.Length(this=text), expressions=[exp.convert(-1)])
        value = exp.Coalesce(this=text.copy(), expressions=[exp.Literal.string("")])
        parts += [exp.cast(length, "text"), exp.Literal.string(":"), value]
    hashed = column("h")
    query = render(
        "verify/fingerprint.sql",
        dialect=engine.dialect,
        source=relation,
        texts=[canonical_text(info, engine.dialect) for info in infos],
        hash=exp.MD5(this=exp.Anonymous(this="CONCAT", expressions=parts)),
        upper=_sum_of_digits(hashed, 1, engine.dialect),
        lower=_sum_of_digits(hashed, 17, engine.dialect),
    )
    (found,) = engine.fetch(query).to_pylist()
    sums = [found[name] or "0" for name in ("upper_sum", "lower_sum")]
    document = [_VERSION, list(columns), found["n_rows"], *sums]
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def _sum_of_digits(hashed: exp.Expr, start: int, dialect: str) -> exp.Expr:
    """The text of a sum over all rows: 16 hexadecimal digits as a number without a sign.

    How a text of digits becomes a number is all that depends on the engine. The sum must not
    overflow for any number of rows.
    """
    digits = exp.Substring(
        this=hashed.copy(), start=exp.convert(start), length=exp.convert(HALF_DIGITS)
    )
    if dialect != "duckdb":
        raise EngineError(f"rows cannot be hashed on {dialect!r}")
    # HUGEINT, the type of the sum, holds 2^63 rows of these.
    written = exp.DPipe(this=exp.Literal.string("0x"), expression=digits)
    number = exp.cast(written, exp.DataType.Type.UBIGINT)
    return exp.cast(exp.Sum(this=number), "text")
