"""Takes the literals out of SQL, so that it can be shown where values of the data must not be.

Which literals come from the data cannot be told from the text: the groups of a release are
written with values of the table. So all texts and numbers go, and with them the comments.
"""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token, TokenType

PLACEHOLDER = "?"
UNREADABLE = "(a statement that cannot be shown without its literals)"

_LITERALS = {
    kind
    for kind in TokenType
    if kind.name.endswith("_STRING") or kind in (TokenType.STRING, TokenType.NUMBER)
}


@lru_cache(maxsize=64)  # a search runs few different statements, each of them thousands of times
def without_literals(sql: str, dialect: str = "duckdb") -> str:
    """The statement with ? for every text and number, and without comments.

    Names and the numbers of parameters ($1) stay.
    """
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    except sqlglot.TokenError:
        return UNREADABLE
    parts: list[str] = []
    end, before = 0, None
    for token in tokens:
        between = sql[end : token.start]
        parts.append(between if not between.strip() else "\n" if "\n" in between else " ")
        parts.append(_shown(token, before, sql))
        end, before = token.end + 1, token
    return "".join(parts).strip()


def _shown(token: Token, before: Token | None, sql: str) -> str:
    adjacent = before is not None and before.end + 1 == token.start
    if before is not None and adjacent:
        if before.token_type is TokenType.PARAMETER:
            return sql[token.start : token.end + 1]
        if before.token_type is TokenType.NUMBER and token.token_type is TokenType.VAR:
            return ""  # the rest of 0x1F, which the tokenizer divides
    return PLACEHOLDER if token.token_type in _LITERALS else sql[token.start : token.end + 1]
