"""Numbers on the command line, with messages in words."""

from __future__ import annotations

from typing import Any

import click


class Whole(click.IntRange):
    """A whole number of at least `least`."""

    def __init__(self, least: int) -> None:
        super().__init__(min=least)
        self._words = f"a whole number of at least {least}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number: int = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value} is not {self._words}", param, ctx)
        return number
