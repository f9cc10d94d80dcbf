"""The exit statuses of the command line; docs/commands.md has their table."""

from __future__ import annotations

ERROR = 1
"""Anything that no other status names."""

WRONG_USAGE = 2
"""An argument or option is wrong, or does not go with another one."""

REQUIREMENT_FAILS = 3
"""A privacy requirement does not hold."""

UNCOVERED_VALUES = 4
"""The data hold values that a declared domain, a scheme or a hierarchy does not cover."""

NOT_WRITTEN = 5
"""Standard output could not be written; the work was done all the same."""

INTERRUPTED = 130
"""Ctrl-C ended the command."""
