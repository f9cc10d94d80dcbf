"""The command line: a thin layer over the Python interface."""

from __future__ import annotations

import sys

from sqlanon.exit_status import INTERRUPTED


def main() -> None:
    """The command `sqlanon`. Nothing heavy is imported before Ctrl-C can be answered."""
    try:
        from sqlanon.cli.command import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(INTERRUPTED)
