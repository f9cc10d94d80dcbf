"""`python -m sqlanon` is the command `sqlanon`."""

from sqlanon.cli import main

main()
