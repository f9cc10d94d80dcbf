"""A hash of a table's rows that does not depend on their order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from sqlglot import exp

from sqlanon.audit.cells import canonical_text, column, described
from sqlanon.engines import Source
from sqlanon.render import render

_VERSION = 1
HALF_DIGITS = 16


def table_hash(source: Source, columns: Sequence[str]) -> str:
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
    engine, infos = source.engine, described(source, columns)
    texts = [column(f"t{j}") for j in range(len(infos))]
    parts: list[exp.Expr] = []
    for text in texts:
        length = exp.Coalesce(this=exp.Length(this=text), expressions=[exp.convert(-1)])
        value = exp.Coalesce(this=text.copy(), expressions=[exp.Literal.string("")])
        parts += [exp.cast(length, "text"), exp.Literal.string(":"), value]
    halves = [
        exp.Substring(this=column("h"), start=exp.convert(start), length=exp.convert(HALF_DIGITS))
        for start in (1, 1 + HALF_DIGITS)
    ]
    upper, lower = map(engine.sum_of_digits, halves)
    query = render(
        "audit/fingerprint.sql",
        dialect=engine.dialect,
        source=source.relation,
        texts=[canonical_text(info) for info in infos],
        hash=exp.MD5(this=exp.Anonymous(this="CONCAT", expressions=parts)),
        upper=upper,
        lower=lower,
    )
    (found,) = engine.fetch(query).to_pylist()
    sums = [found[name] or "0" for name in ("upper_sum", "lower_sum")]
    document = [_VERSION, list(columns), found["n_rows"], *sums]
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()
