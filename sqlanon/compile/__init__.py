"""From a scheme to one readable SELECT that builds the release."""

from sqlanon.compile.population import compile_population
from sqlanon.compile.present import NOT_IN_SCHEME, Released, check_labels, released
from sqlanon.compile.recipe import Generalized, Item, Pseudonym, Recipe, Sensitive, Verbatim
from sqlanon.compile.select import Compiled, compile_release, compile_uncovered
from sqlanon.compile.text import release_text, statement_text

__all__ = [
    "NOT_IN_SCHEME",
    "Compiled",
    "Generalized",
    "Item",
    "Pseudonym",
    "Recipe",
    "Released",
    "Sensitive",
    "Verbatim",
    "check_labels",
    "compile_population",
    "compile_release",
    "compile_uncovered",
    "release_text",
    "released",
    "statement_text",
]
