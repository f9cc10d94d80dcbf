"""`sqlanon schema`: the JSON Schema of policy files, for editors."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sqlanon.errors import SqlanonError


@click.command(epilog="Example: sqlanon schema -o policy.schema.json")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it to a file instead; an existing schema is replaced.",
)
def schema(output: Path | None) -> None:
    """Print the JSON Schema of policy files.

    With it, editors complete keys, show what they mean and mark mistakes. Most editors find it
    by this first line of the policy:

    \b
    # yaml-language-server: $schema=policy.schema.json
    """
    from sqlanon.files import FileKind, refuse_to_replace
    from sqlanon.policy import TITLE, policy_json_schema

    # ASCII only, so that the same bytes come out of every terminal and platform.
    text = json.dumps(policy_json_schema(), indent=2)
    if output is None:
        click.echo(text)
        return
    schema = FileKind("the JSON Schema of policies", lambda found: found.get("title") == TITLE)
    refuse_to_replace(output, schema)
    try:
        output.write_text(text + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise SqlanonError(f"{output}: cannot be written ({error.strerror})") from None
