"""`python -m sqlanon` is the command `sqlanon`."""

from __future__ import annotations

from sqlanon.cli import main

main()
