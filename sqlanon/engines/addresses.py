"""What of an address may be shown or hashed: never its password."""

from __future__ import annotations

import re
from urllib.parse import unquote

_USER = re.compile(r"(?<=://)([^:@/]*):[^@/]*@")
_KEYED = re.compile(r"[?&]([^=&]*)=[^&]*")


def without_password(address: str) -> str:
    """An address without the password before its host and the passwords among its settings."""
    return _KEYED.sub(_kept, _USER.sub(r"\1@", address))


def _kept(setting: re.Match[str]) -> str:
    return "" if "password" in unquote(setting[1]).lower() else setting[0]


def may_hold_password(text: str) -> bool:
    """Whether a text that is no address could be one whose beginning is wrong."""
    return any(each in text for each in "@=")
