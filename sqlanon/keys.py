"""Typed and described keys of a policy, which the rooms declare for their own sections."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

Scalar = bool | int | float | dt.datetime | dt.date | str
# Strict, because `k: yes` and `k: "5"` are slips of the pen rather than numbers.
Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Share = Annotated[Number, Field(ge=0, le=1)]


def about(description: str, allowed: str | None = None, **constraints: Any) -> FieldInfo:
    """A key with what editors show for it, and `allowed` where messages need words of their own."""
    extra: JsonDict | None = None if allowed is None else {"allowed": allowed}
    field: FieldInfo = Field(description=description, json_schema_extra=extra, **constraints)
    return field


# Text that is not blank.
Words = Annotated[str, Field(pattern=r"\S")]


class Section(BaseModel):
    """Keys that belong together. Unknown ones are refused."""

    # Built with the first policy that is read, and only what it needs.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def refuse(problems: Iterable[str]) -> None:
    """Raises what a validator found, all of it; `.key: words` is about a key of the section."""
    lines = list(problems)
    if lines:
        raise ValueError("\n".join(lines))
