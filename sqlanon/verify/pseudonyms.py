"""Whether a column that is to hold pseudonyms holds them and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from sqlanon.engines import ColumnInfo, Engine
from sqlanon.model import counted
from sqlanon.render import render
from sqlanon.verify.values import column, exact

DIGITS = 32
"""Hexadecimal digits of a pseudonym; 128 bits of a hash."""

_HEX = "0123456789abcdef"
_PIECE = 16
"""Characters of a key that a pseudonym holds by chance once in 2 ** 64 times."""


def pseudonym_problems(
    engine: Engine, relation: exp.Expr, info: ColumnInfo, key: str, subject: ColumnInfo | None
) -> Iterator[str]:
    """What is wrong with a column of pseudonyms; messages hold counts, never values.

    Every pseudonym has 32 hexadecimal digits and holds no piece of the key. `subject` is the
    column of the values behind the pseudonyms, where the table has it: then every row has a
    pseudonym, each value one of its own. Without it, NULL stays NULL.
    """
    value: exp.Expr = exp.null()
    if subject is not None:
        # The text that was hashed: a person's texts may differ in case, or 0.0 be -0.0.
        value = exact(exp.cast(column(subject.name), "text"), engine.dialect)
    query = render(
        "verify/pseudonyms.sql",
        dialect=engine.dialect,
        source=relation,
        pseudonym=column(info.name),
        value=value,
        value_known=subject is not None,
        is_formed=_is_formed(exp.cast(column("p"), "text")),
        column=column(info.name),
    )
    (found,) = engine.fetch(query).to_pylist()
    name = info.name
    if found["n_other"]:
        yield (
            f"the pseudonym {name!r} is not {DIGITS} hexadecimal digits in "
            f"{counted(found['n_other'], 'row')}"
        )
    elif rows := _with_key(engine, relation, name, key):
        yield f"the pseudonym {name!r} holds a part of its key in {counted(rows, 'row')}"
    if subject is not None and not (found["n_pseudonyms"] == found["n_values"] == found["n_pairs"]):
        yield (
            f"the pseudonym {name!r} does not tell people apart one by one: "
            f"{counted(found['n_pseudonyms'], 'pseudonym')} for "
            f"{counted(found['n_values'], 'value')}, in {counted(found['n_pairs'], 'pair')}"
        )


def _is_formed(value: exp.Expr) -> exp.Expr:
    """Whether a text is a pseudonym; neither true nor false for NULL."""
    others = exp.Anonymous(
        this="TRANSLATE",
        expressions=[value, exp.Literal.string(_HEX), exp.Literal.string("")],
    )
    return exp.and_(
        exp.EQ(this=exp.Length(this=value.copy()), expression=exp.convert(DIGITS)),
        exp.EQ(this=others, expression=exp.Literal.string("")),
    )


def _with_key(engine: Engine, relation: exp.Expr, name: str, key: str) -> int:
    """Rows with a piece of the key in a pseudonym, which holds hexadecimal digits only."""
    runs = re.findall(f"[{_HEX}]{{{_PIECE},}}", key)
    pieces = {run[at : at + _PIECE] for run in runs for at in range(len(run) - _PIECE + 1)}
    if not pieces:
        return 0
    names = {f"piece_{place}": piece for place, piece in enumerate(sorted(pieces))}
    held = [
        exp.GT(
            this=exp.StrPosition(this=column(name), substr=exp.Placeholder(this=each)),
            expression=exp.Literal.number(0),
        )
        for each in names
    ]
    count = exp.select(exp.Count(this=exp.Star()).as_("n_rows")).from_(relation.copy())
    (found,) = engine.fetch(count.where(exp.or_(*held)), names).to_pylist()
    return int(found["n_rows"])
