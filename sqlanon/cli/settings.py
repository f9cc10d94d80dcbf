"""Settings of a search that somebody looks for among the options."""

from __future__ import annotations

import click

from sqlanon.policy import SearchSection
from sqlanon.policy.methods import SETTINGS


class WithSettings(click.Command):
    """A command whose settings are in the policy; an option of such a name is told where."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            key = error.option_name.lstrip("-").replace("-", "_")
            if key not in SearchSection.model_fields:
                raise
            methods = [method for method, settings in SETTINGS.items() if key in settings]
            named = " and ".join(filter(None, [", ".join(methods[:-1]), *methods[-1:]]))
            whose = f", a setting of {named}" if methods else ""
            raise click.UsageError(
                f"No such option: {error.option_name}. Give search.{key} in the policy{whose}.", ctx
            ) from None
