"""The hash that replaces a key: a pseudonym."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.release.generalize import cell

LENGTH = 32
"""Hexadecimal digits of a pseudonym: 128 bits."""


def pseudonym(column: str, key: str) -> exp.Expr:
    """A keyed hash of a column that every database can compute; `key` is the key's parameter.

    It is SHA-256 of the key and SHA-256 of the key and the value. With one hash alone, a reader
    could compute the pseudonym of a lengthened value without the key.
    """
    secret = exp.Placeholder(this=key)
    inner = exp.DPipe(this=secret, expression=exp.cast(cell(column), "text"))
    outer = exp.DPipe(this=secret.copy(), expression=_sha256(inner))
    return exp.Left(this=_sha256(outer), expression=exp.Literal.number(LENGTH))


def _sha256(text: exp.Expr) -> exp.Expr:
    return exp.SHA2(this=text, length=exp.Literal.number(256))
