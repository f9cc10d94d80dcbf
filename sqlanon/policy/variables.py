"""`${NAME}` in a policy: secrets stay in the environment, and out of files and messages.

Only addresses of databases and the keys of pseudonyms may hold variables. The sections keep
the text as it is written; what the variables hold is kept apart from them, so that nothing
that shows, stores or fingerprints a section can reveal it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from sqlanon.engines import ENGINES

KeyPath = tuple[Any, ...]

SOURCE: KeyPath = ("source", "connection")
PUBLISH: KeyPath = ("publish", "connection")
POPULATION: KeyPath = ("population", "connection")
ADDRESSES = (SOURCE, POPULATION, PUBLISH)
MIN_KEY = 16

_DOLLAR = re.compile(r"\$(?:(\$)|\{([^}]*)\}?)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[^\W_]{4,}")
_SCHEME = re.compile(r"^\w+(?=://)")
_PASSWORD = re.compile(r"password=([^&\s]*)", re.IGNORECASE)
_EXCERPT = 8  # characters of a key, such as a message that quotes a part of a statement shows


def key_place(column: str) -> KeyPath:
    """Where a policy holds the key of a pseudonym."""
    return ("columns", column, "key")


def is_secret(place: KeyPath) -> bool:
    """Whether what stands there is kept out of messages."""
    return place in ADDRESSES or (len(place) == 3 and place == key_place(place[1]))


@dataclass(frozen=True)
class Secret:
    """A value that no message may hold; `shown` stands for it.

    pieces  parts of a key or password: nothing is shown of a message that holds one
    words   other parts of an address, such as a host: they are replaced one by one
    """

    shown: str
    value: str = field(repr=False)
    pieces: frozenset[str] = field(repr=False)
    words: frozenset[str] = field(default=frozenset(), repr=False)

    def forms(self) -> Iterator[str]:
        """The ways in which the value may be spelled in a message."""
        body = self.value.partition("://")[2].strip("/")
        for form in (self.value, self.value.strip(), body, unquote(self.value), unquote(body)):
            spelled = (form, repr(form)[1:-1], form.replace("'", "''"))
            yield from (each for each in spelled if each)


@dataclass(frozen=True)
class Expansion:
    """The texts of a policy with their variables filled in. Its repr shows none of them."""

    texts: Mapping[KeyPath, str] = field(default_factory=dict, repr=False)
    secrets: tuple[Secret, ...] = ()

    def hide(self, message: str) -> str:
        """The message without the secrets, each shown as it is written in the policy.

        Where a piece of a key or password would still be left over, as in a message that takes
        an address apart, nothing of the message is shown.
        """
        shown = {word: secret.shown for secret in self.secrets for word in secret.words}
        shown |= {form: secret.shown for secret in self.secrets for form in secret.forms()}
        if not shown:
            return message
        # Words and short values only where they stand alone: others have them as a part.
        alone = {word for secret in self.secrets for word in secret.words}
        patterns = [
            rf"(?<![^\W_]){re.escape(form)}(?![^\W_])"
            if len(form) <= 3 or form in alone
            else re.escape(form)
            for form in sorted(shown, key=len, reverse=True)
        ]
        parts = re.split(f"({'|'.join(patterns)})", message)
        rest = "\0".join(parts[::2])
        leaking = [each.shown for each in self.secrets if any(p in rest for p in each.pieces)]
        if leaking:
            names = " and ".join(dict.fromkeys(leaking))
            return (
                "The database refused. The reason is not shown, because it would tell a part of "
                f"{names}."
            )
        return "".join(shown[part] if i % 2 else part for i, part in enumerate(parts))


def expand(
    document: Any, environment: Mapping[str, str]
) -> tuple[Expansion, list[tuple[KeyPath, str]]]:
    """Fills in the variables of a policy; also every mistake in them, with its place.

    The document may be any nonsense: what is no text in the right place is left to the schema.
    """
    texts: dict[KeyPath, str] = {}
    secrets: list[Secret] = []
    problems: list[tuple[KeyPath, str]] = []
    for place, text in _written(document):
        wrong = list(_mistakes(text, environment))
        if not wrong:
            texts[place] = _DOLLAR.sub(lambda m: m[1] or environment[m[2]], text)
            secrets += _secrets(place, text, texts[place], environment)
            wrong = list(_too_short(place, texts[place]))
        problems += [(place, words) for words in wrong]
    return Expansion(texts, tuple(secrets)), problems


def _secrets(
    place: KeyPath, text: str, filled: str, environment: Mapping[str, str]
) -> Iterator[Secret]:
    """Of an address what its variables hold; of a key all of it, even where it is written out."""
    names = dict.fromkeys(match[2] for match in _DOLLAR.finditer(text) if match[2])
    if place not in ADDRESSES:
        shown = "".join(f"${{{name}}}" for name in names) or "(the key)"
        ends = range(_EXCERPT, len(filled) + 1)
        yield Secret(shown, filled, frozenset(filled[end - _EXCERPT : end] for end in ends))
        return
    for name in names:
        value = environment[name]
        pieces = frozenset(_WORD.findall(_passwords(value)))
        engines = re.compile("|".join(map(re.escape, ENGINES)), re.IGNORECASE)
        # What an engine is called is no secret, unless it is in a password.
        words = frozenset(_WORD.findall(engines.sub(" ", _SCHEME.sub(" ", value))))
        yield Secret(f"${{{name}}}", value, pieces, words - pieces)


def _passwords(value: str) -> str:
    """What may be a password in the value of a variable; all of it where it is no address."""
    scheme = _SCHEME.match(value)
    if scheme is None:
        return f"{value} {unquote(value)}"
    login = value[scheme.end() :].removeprefix("://").rpartition("@")[0]
    found = [login.partition(":")[2], *_PASSWORD.findall(value)]
    return " ".join([*found, *map(unquote, found)])


def _written(document: Any) -> Iterator[tuple[KeyPath, str]]:
    columns = _at(document, ("columns",))
    names = list(columns) if isinstance(columns, Mapping) else []
    for place in (SOURCE, POPULATION, *map(key_place, names), PUBLISH):
        text = _at(document, place)
        if isinstance(text, str):
            yield place, text


def _at(value: Any, place: KeyPath) -> Any:
    for step in place:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _mistakes(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the variables of a text, without showing any of it but their names."""
    for match in _DOLLAR.finditer(text):
        if match[1]:
            continue
        if match[2] is None:
            yield "holds a single $; write $$ for a dollar, and ${NAME} for a variable"
        elif not match[0].endswith("}") or not _NAME.fullmatch(match[2]):
            yield "holds a ${ without the name of a variable; write ${NAME}, or $$ for a dollar"
        elif match[2] not in environment:
            yield f"the variable {match[2]} is not set in the environment"


def _too_short(place: KeyPath, text: str) -> Iterator[str]:
    if place in ADDRESSES:
        if not text.strip():
            yield "is empty; expected the address of a database"
    elif len(text) < MIN_KEY:
        yield f"has {len(text)} characters, expected at least {MIN_KEY}, such as random ones"
