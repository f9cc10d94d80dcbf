"""The command line: a thin layer over the Python interface."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from sqlanon.exit_status import INTERRUPTED


def main() -> None:
    """The command `sqlanon`. Nothing heavy is imported before Ctrl-C can be answered.

    Everything is written and closed by the end. What is left in memory goes with the process:
    Python would take a quarter of a short command's time to free it object by object.
    """
    status = 0
    try:
        from sqlanon.cli.command import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        status = INTERRUPTED
    except SystemExit as end:
        status = int(end.code or 0)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or not there
            stream.flush()
    os._exit(status)
