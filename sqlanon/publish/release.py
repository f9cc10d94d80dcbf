"""Everything that a publish needs to know, before it looks at a database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from sqlglot import exp

from sqlanon.compile import Pseudonym, Recipe, released
from sqlanon.errors import PublishError
from sqlanon.model import Mode, Unseen
from sqlanon.verify import Expected

FILE_SUFFIXES = (".csv", ".parquet")

# A parameter's name is written without quotes.
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class Checks:
    """What the verification asks for and the recipe does not say.

    most_left_out  rows of the source that may be missing, for whatever reason
    limit          the share of the source's rows that may be suppressed on top of that
    verbatim       released columns that are not generalized (verbatim and pseudonyms), with the
                   reason why what is found in them is accepted, or None
    pseudonyms     the pseudonyms among them, with whether they are the same in every release
    sensitive      the sensitive columns
    uncovered      those of them that no model is for
    homogeneity    why these are accepted; None refuses the release
    """

    most_left_out: int = 0
    limit: float = 0.0
    verbatim: Mapping[str, str | None] = field(default_factory=dict)
    pseudonyms: Mapping[str, bool] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    homogeneity: str | None = None


@dataclass(frozen=True)
class Release:
    """A release that can be published.

    mode     a new table (or file), a new content of the source's table, or a view
    target   the table or view to make; None for a file and for mode replace
    file     a .csv or .parquet file instead of a table
    keys     the keys of pseudonyms by the names of their parameters; they are handed to the
             database as parameters, so no text that is run, logged or raised holds them
    """

    recipe: Recipe
    checks: Checks = field(default_factory=Checks)
    mode: Mode = Mode.TABLE
    target: exp.Table | None = None
    file: Path | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._check_place()
        self._check_keys()

    def _check_place(self) -> None:
        if self.file is not None:
            if self.mode is not Mode.TABLE or self.target is not None:
                raise PublishError("a file is written as a table, with no other target")
            if self.file.suffix.lower() not in FILE_SUFFIXES:
                raise PublishError(
                    f"file {self.file} has none of the known suffixes: {', '.join(FILE_SUFFIXES)}"
                )
            try:
                self.file.resolve()
            except (OSError, RuntimeError):
                raise PublishError(
                    f"file {self.file} is a link that leads to no place; remove it, or take "
                    "another name"
                ) from None
        elif self.mode is Mode.REPLACE:
            if self.target is not None:
                raise PublishError("mode replace writes to the source's own table; name no other")
            source = self.recipe.source
            if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
                raise PublishError(
                    "mode replace needs a table as its source, not a query, a file or data"
                )
        elif self.target is None:
            raise PublishError("a release needs a target: the name of a table or a file")

    @property
    def _pseudonyms(self) -> list[Pseudonym]:
        return [item for item in self.recipe.items if isinstance(item, Pseudonym)]

    def _check_keys(self) -> None:
        wanted = {item.key for item in self._pseudonyms}
        if wanted and self.mode is Mode.VIEW:
            raise PublishError(
                "a view has no place for the key of pseudonyms: everyone who reads its "
                "definition would see it; take mode table"
            )
        if missing := [key for key in sorted(wanted) if not self.keys.get(key)]:
            raise PublishError(f"the keys of pseudonyms are missing: {', '.join(missing)}")
        if wrong := [key for key in sorted(wanted) if not _PARAMETER.fullmatch(key)]:
            raise PublishError(f"not names of parameters: {', '.join(map(repr, wrong))}")

    @property
    def used_keys(self) -> dict[str, str]:
        """The keys that the SQL asks for; a database refuses others."""
        wanted = {item.key for item in self._pseudonyms}
        return {name: key for name, key in self.keys.items() if name in wanted}

    def expected(self, source_rows: int, subject: str | None, unseen: int = 0) -> Expected:
        """What the staged table must be; `subject` is its private column.

        `unseen` rows hold values that belong to no group; they may be missing where the recipe
        leaves them out. What the source and the population hold is for the caller to count.
        """
        most = self.checks.most_left_out + _share(self.checks.limit, source_rows)
        if self.recipe.unseen is Unseen.LEAVE_OUT or self.mode is Mode.VIEW:
            most += unseen
        return Expected(
            columns=self.recipe.released_names,
            k=self.recipe.k,
            quasi={each.name: each.values for each in released(self.recipe)},
            source_rows=source_rows,
            most_left_out=most,
            subject=subject,
            verbatim=self.checks.verbatim,
            pseudonyms=self.checks.pseudonyms,
            keys={item.name: self.keys[item.key] for item in self._pseudonyms},
            named_by=next(
                (each.name for each in self._pseudonyms if each.name == self.recipe.subject), None
            ),
            sensitive=self.checks.sensitive,
            marker=self.recipe.marker if self.recipe.suppress else None,
            models=self.recipe.models,
            hierarchies=self.recipe.hierarchies,
            uncovered_sensitive=self.checks.uncovered,
            homogeneity=self.checks.homogeneity,
        )


def _share(limit: float, rows: int) -> int:
    """floor(limit · rows), of the decimal number that was written, as a search counts it."""
    return int(Decimal(str(limit)) * rows)
