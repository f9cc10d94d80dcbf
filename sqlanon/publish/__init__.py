"""A release in its place: staged, verified, swapped, so that nobody sees half of one."""

from sqlanon.publish.effects import TypeChange, type_changes
from sqlanon.publish.leftovers import remove_leftovers
from sqlanon.publish.publishing import Published, publish, statements
from sqlanon.publish.release import Checks, Release
from sqlanon.publish.rewrite import Rewritten, rewrite_database
from sqlanon.publish.stage import Staged

__all__ = [
    "Checks",
    "Published",
    "Release",
    "Rewritten",
    "Staged",
    "TypeChange",
    "publish",
    "remove_leftovers",
    "rewrite_database",
    "statements",
    "type_changes",
]
