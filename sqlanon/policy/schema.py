"""The keys of a policy file and what each may hold. docs/policy.md describes them for users."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import model_validator

from sqlanon.model import BiasName, LossName, Mode, Output, SuppressedRows, marking_problems
from sqlanon.policy.columns import ColumnSection, Role
from sqlanon.policy.fields import Flag, Section, about, refuse
from sqlanon.policy.places import PublishSection, SourceSection
from sqlanon.policy.privacy import PopulationSection, PrivacySection
from sqlanon.policy.settings import PreferenceSection, SearchSection, SuppressionSection


class Others(StrEnum):
    """What becomes of columns that the policy does not name."""

    REFUSE = "refuse"
    DROP = "drop"
    INSENSITIVE = "insensitive"


class PolicySection(Section):
    """What is known of a table and what its release must satisfy."""

    source: Annotated[SourceSection, about("Where the table is.")] = SourceSection()
    columns: Annotated[
        dict[str, ColumnSection],
        about("What each column is.", "columns, such as age: {role: quasi}", min_length=1),
    ]
    others: Annotated[Others, about("What becomes of columns that are not named.")] = Others.REFUSE
    subject: Annotated[str | None, about("The column that names the person a row is about.")] = None
    one_row_per_person: Annotated[Flag, about("Promises that every row is another person.")] = False
    privacy: Annotated[
        PrivacySection | None, about("What every class of the release must satisfy.")
    ] = None
    population: Annotated[
        PopulationSection | None, about("The people that those of the source are a part of.")
    ] = None
    preference: Annotated[
        PreferenceSection | None, about("The loss and bias that would still be welcome.")
    ] = None
    suppression: Annotated[
        SuppressionSection, about("How many rows may be suppressed, and how.")
    ] = SuppressionSection()
    search: Annotated[SearchSection, about("How solutions are searched.")] = SearchSection()
    publish: Annotated[PublishSection, about("Where the release goes and how it is made.")] = (
        PublishSection()
    )

    @model_validator(mode="after")
    def _consistent(self) -> PolicySection:
        refuse(self.contradictions())
        return self

    def contradictions(self, broken: Collection[str] = ()) -> list[str]:
        """What sections say together that cannot be.

        Of a policy with other mistakes, `broken` names the keys whose values are not valid and
        hence not here; nothing is said that might be different once these are corrected.
        """
        return [
            line
            for keys, check in self._checks().items()
            if not keys.intersection(broken)
            for line in check()
        ]

    def _checks(self) -> dict[frozenset[str], Callable[[], Iterator[str]]]:
        """By the keys whose values must be known: single columns may be missing from `columns`,
        where the key `columns` is not among them. Of `search` a single key is enough."""
        return {
            frozenset({"subject", "one_row_per_person"}): self._about_people,
            frozenset({"subject"}): self._about_the_subject,
            frozenset({"columns"}): self._about_weights,
            frozenset(): self._about_single_columns,
            frozenset({"suppression", "privacy"}): self._about_suppression,
            frozenset({"suppression", "publish"}): self._about_marked_rows,
            frozenset({"privacy", "columns"}): self._about_sensitive_columns,
            frozenset({"privacy", "population"}): self._about_the_population,
            frozenset({"preference", "search.start"}): self._about_the_walk,
            frozenset({"columns", "search.loss"}): self._about_the_loss,
            frozenset({"source", "publish"}): self._about_the_place,
            frozenset({"publish"}): self._about_a_view,
            frozenset({"publish", "privacy", "population"}): self._about_the_population_of_a_view,
        }

    def _about_people(self) -> Iterator[str]:
        if self.subject is not None and self.one_row_per_person:
            yield "subject: give either this or `one_row_per_person: true`, not both"
        if self.subject is None and not self.one_row_per_person:
            yield (
                "subject: say whose rows these are, either `subject: COLUMN`, the column that "
                "names the person a row is about, or `one_row_per_person: true`"
            )

    def _about_the_subject(self) -> Iterator[str]:
        role = None if self.subject not in self.columns else self.columns[self.subject].role
        if role not in (None, Role.IDENTIFYING, Role.PSEUDONYM):
            yield (
                f"subject: {self.subject!r} tells people apart, so its role can only be "
                f"identifying or pseudonym, not {role}"
            )

    def _about_weights(self) -> Iterator[str]:
        weights = [c.weight for c in self.columns.values() if c.role is Role.QUASI]
        if not weights:
            yield "columns: no column has the role quasi, so there is nothing to generalize"
        elif not 0 < sum(weights) < math.inf:
            size = "too large" if sum(weights) else "all 0"
            yield f"columns: the weights are {size}; only their ratios matter, 1 is usual"

    def _about_single_columns(self) -> Iterator[str]:
        labels = [name for name, c in self.columns.items() if c.role is Role.LABEL]
        if len(labels) > 1:
            named = " and ".join(map(repr, labels))
            yield f"columns: at most one column can be the label, not {named}"
        yield from self._about_bounds()

    def _about_suppression(self) -> Iterator[str]:
        if self.suppression.limit and self.privacy is None:
            yield "suppression.limit: needs privacy.k, because rows of smaller classes are left out"

    def _about_marked_rows(self) -> Iterator[str]:
        if self.suppression.limit and self.suppression.rows is SuppressedRows.MARK:
            quasi = {n: c.output for n, c in self.columns.items() if c.role is Role.QUASI}
            yield from marking_problems(quasi, in_view=self.publish.mode is Mode.VIEW)

    def _about_sensitive_columns(self) -> Iterator[str]:
        if self.privacy is None:
            return
        sensitive = [name for name, c in self.columns.items() if c.role is Role.SENSITIVE]
        for key, sections in self.privacy.of_columns().items():
            for section in sections:
                for name in section.columns or ():
                    if name not in sensitive:
                        yield (
                            f"privacy.{key}.columns: {name!r} is no column with the role "
                            f"sensitive; there are {', '.join(map(repr, sensitive)) or 'none'}"
                        )
            if sections and not sensitive:
                yield f"privacy.{key}: needs a column with the role sensitive"
        yield from self._about_homogeneity(sensitive)

    def _about_homogeneity(self, sensitive: list[str]) -> Iterator[str]:
        """A reason for columns without a model accepts nothing where there is one."""
        assert self.privacy is not None
        accepted, models = self.privacy.homogeneity, self.privacy.of_columns()
        if accepted is None or not sensitive:
            return
        covering: dict[str, dict[str, None]] = {name: {} for name in sensitive}
        for key, sections in models.items():
            for section in sections if key != "homogeneity" else ():
                for name in section.columns or sensitive:
                    covering.setdefault(name, {})[f"privacy.{key}"] = None
        for name in accepted.columns or ():
            if keys := " and ".join(covering.get(name, {})):
                yield (
                    f"privacy.homogeneity.columns: {name!r} has a model, by {keys}, so there is "
                    "nothing to accept; leave the column out here or there"
                )
        if accepted.columns is None and all(covering.values()):
            keys = " and ".join(dict.fromkeys(key for each in covering.values() for key in each))
            yield (
                f"privacy.homogeneity: every sensitive column has a model, by {keys}, so there is "
                "nothing to accept; leave it out, or name the `columns` that the models are for"
            )

    def _about_the_population(self) -> Iterator[str]:
        if self.privacy is not None and self.privacy.k_map is not None and self.population is None:
            yield (
                "privacy.k_map: needs `population`, a table of the people that those of the "
                "source are a part of"
            )

    def _about_the_walk(self) -> Iterator[str]:
        start, aim = self.search.start, self.preference
        if start is not None:
            usual = {"loss": LossName.NWP, "bias": BiasName.NECD}
            for key, papers in usual.items():
                wanted = papers if aim is None else getattr(aim, key)
                if getattr(start, key) != wanted:
                    yield (
                        f"search.start.{key}: is {getattr(start, key)}, but the preference is in "
                        f"{wanted}; a walk has one measure"
                    )

    def _about_the_loss(self) -> Iterator[str]:
        labelled = any(c.role is Role.LABEL for c in self.columns.values())
        if self.search.loss is LossName.CE and not labelled:
            yield "search.loss: ce needs a column with the role label"

    def uncovered_sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that no model is for, and that nothing accepts as they are."""
        sensitive = [name for name, c in self.columns.items() if c.role is Role.SENSITIVE]
        sections = [] if self.privacy is None else self.privacy.of_columns().values()
        covered = {
            name
            for several in sections
            for section in several
            for name in section.columns or sensitive
        }
        return tuple(name for name in sensitive if name not in covered)

    def _about_bounds(self) -> Iterator[str]:
        """Databases take names for equal that differ in upper and lower case only."""
        released = {n.lower(): n for n, c in self.columns.items() if c.role != Role.IDENTIFYING}
        for name, column in self.columns.items():
            if column.output is Output.BOUNDS:
                for bound in (f"{name}_low", f"{name}_high"):
                    if bound.lower() in released:
                        yield (
                            f"columns: {name!r} with output bounds becomes a column {bound!r}, "
                            f"and there is {released[bound.lower()]!r} already"
                        )

    def _about_the_place(self) -> Iterator[str]:
        source, publish = self.source, self.publish
        if publish.mode is Mode.REPLACE and source.table is None:
            yield "publish.mode: replace needs source.table, the table that is replaced"
        if publish.mode is Mode.VIEW and source.table is None and source.query is None:
            yield (
                "publish.mode: view needs source.table or source.query on a connection, "
                "because a view reads what is in its own database"
            )
        elsewhere = publish.connection not in (None, source.connection)
        if publish.to is not None and publish.to == source.table and not elsewhere:
            yield (
                f"publish.to: {publish.to!r} is the source itself; take another name, or "
                "mode: replace without this"
            )

    def _about_the_population_of_a_view(self) -> Iterator[str]:
        counts = self.privacy is not None and self.privacy.k_map is not None
        is_file = self.population is not None and self.population.file is not None
        if self.publish.mode is Mode.VIEW and counts and is_file:
            yield (
                "population.file: a view with k_map counts the population at every read, and "
                "reads what is in its own database; copy the file into a table there"
            )

    def _about_a_view(self) -> Iterator[str]:
        pseudonyms = any(c.role is Role.PSEUDONYM for c in self.columns.values())
        if self.publish.mode is Mode.VIEW and pseudonyms:
            yield (
                "publish.mode: a view would show the secret of its pseudonyms to everyone "
                "who can read its definition; take mode table"
            )
