"""Numbers on the command line, with messages in words."""

from __future__ import annotations

import math
from typing import Any

import click


class Whole(click.IntRange):
    """A whole number of at least `least`, in 64 bits."""

    def __init__(self, least: int) -> None:
        super().__init__(min=least, max=2**63 - 1)
        self._words = f"a whole number of at least {least}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number: int = super().convert(value, param, ctx)
        except click.BadParameter:
            text = str(value).strip()
            if text.isdecimal() and len(text) > 18:
                self.fail(f"{text[:18]}… is too large; give at most {self.max}", param, ctx)
            self.fail(f"{text[:40]} is not {self._words}", param, ctx)
        return number


class Wholes(click.ParamType[tuple[int, ...]]):
    """Whole numbers of at least `least`, with commas between."""

    name = "numbers"

    def __init__(self, least: int) -> None:
        self._each = Whole(least)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "N,N,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        return tuple(self._each.convert(part.strip(), param, ctx) for part in parts)


class Seconds(click.FloatRange):
    """A number of seconds above 0."""

    name = "number"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number: float = super().convert(value, param, ctx)
        except click.BadParameter:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value} is not a number above 0", param, ctx)
        return number
