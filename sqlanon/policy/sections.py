"""The keys of a policy file and what each may hold. docs/policy.md describes them for users.

Privacy models, measures and search methods declare theirs themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, create_model, model_validator

from sqlanon.domain import (
    CALENDAR_STEPS,
    Family,
    Form,
    Mode,
    Output,
    RowOrder,
    SuppressedRows,
    Unseen,
    marking_problems,
)
from sqlanon.evaluate import KEPT_DAYS
from sqlanon.keys import Flag, Number, Scalar, Section, Whole, Words, about, refuse
from sqlanon.metrics import METRICS, PreferenceSection
from sqlanon.policy.search_keys import SearchSection, SuppressionSection
from sqlanon.privacy import PrivacySection, keys, privacy_section

FILES = (".csv", ".parquet")


class SourceSection(Section):
    """Where the table is: on a connection, or in a file."""

    connection: Annotated[
        str | None,
        about(
            "The address of the database, such as duckdb:///warehouse.duckdb; ${NAME} is a "
            "variable of the environment, $$ a dollar.",
            repr=False,
        ),
    ] = None
    table: Annotated[str | None, about("A table or view; needs `connection`.")] = None
    query: Annotated[str | None, about("One SELECT that changes nothing.")] = None
    file: Annotated[str | None, about("A .csv, .csv.gz, .tsv or .parquet file.")] = None
    histogram: Annotated[
        str | None,
        about(
            "A .parquet or .csv file with the answer to the query of `sqlanon sql --part count`, "
            "for a table that sqlanon cannot reach; `table` is its name there."
        ),
    ] = None

    @model_validator(mode="after")
    def _one_relation(self) -> SourceSection:
        given = [k for k in ("table", "query", "file") if getattr(self, k) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of table, query and file, not {' and '.join(given)}")
        if self.histogram is not None:
            for key in ("connection", "query", "file"):
                if getattr(self, key) is not None:
                    raise ValueError(f"a histogram needs no {key}; leave one of the two out")
        if self.file is not None and self.connection is not None:
            raise ValueError("a file needs no connection; leave one of the two out")
        return self


class PopulationSection(SourceSection):
    """The people that the source's are a part of: a table with the same quasi-identifiers."""

    subject: Annotated[
        str | None,
        about("The column that names the person a row is about; unless given, rows are people."),
    ] = None

    @model_validator(mode="after")
    def _some_relation(self) -> PopulationSection:
        if self.histogram is not None:
            raise ValueError("cannot be a histogram; give a table, query or file")
        if self.table is None and self.query is None and self.file is None:
            raise ValueError("says no table, query or file to read; give one of them")
        return self


class PublishSection(Section):
    """Where the release goes and how it is made. Publishing needs to, file or mode: replace."""

    to: Annotated[
        Words | None, about("The table or view to make, such as people_anon or shared.people.")
    ] = None
    mode: Annotated[
        Mode,
        about(
            "Whether the release is a new table, replaces the source's table, or is a view on it."
        ),
    ] = Mode.TABLE
    connection: Annotated[
        str | None,
        about(
            "The address of another database for the release; ${NAME} is a variable of the "
            "environment, $$ a dollar. Unless given: that of the source.",
            repr=False,
        ),
    ] = None
    file: Annotated[Words | None, about("A .csv or .parquet file instead of a table.")] = None
    order: Annotated[RowOrder, about("The order of released rows; the source's is never kept.")] = (
        RowOrder.SORTED
    )
    unseen: Annotated[
        Unseen,
        about(
            "What happens to values that were not there when the scheme was found: an error, "
            "their rows left out, or generalized as far as possible."
        ),
    ] = Unseen.ERROR
    form: Annotated[
        Form, about("How generalizations are written in SQL: CASE, or a join of small tables.")
    ] = Form.AUTO

    @model_validator(mode="after")
    def _one_place(self) -> PublishSection:
        refuse([*self._about_a_file(), *self._about_a_table()])
        return self

    def _about_a_file(self) -> Iterator[str]:
        if self.file is None:
            return
        if not self.file.lower().endswith(FILES):
            yield f".file: found {self.file!r:.60}, expected a name ending in {' or '.join(FILES)}"
        for key in ("to", "connection"):
            if getattr(self, key) is not None:
                yield f".{key}: a release goes to a file or to a database; leave file or this out"
        if self.mode is not Mode.TABLE:
            yield f".mode: found '{self.mode}', but a file is always written as a table"

    def _about_a_table(self) -> Iterator[str]:
        if self.mode is Mode.REPLACE:
            for key in ("to", "connection"):
                if getattr(self, key) is not None and self.file is None:
                    yield f".{key}: mode replace writes to the source's own table; leave it out"
        elif self.mode is Mode.VIEW:
            if self.to is None and self.file is None:
                yield ".to: is missing; mode view needs the name of the view"
            if self.connection is not None and self.file is None:
                yield (
                    ".connection: a view stays in the database of its source; leave it out, or "
                    "take mode table"
                )
        elif self.connection is not None and self.to is None and self.file is None:
            yield ".to: is missing; with a connection it needs the name of the table to make"


class Role(StrEnum):
    """What a column means for privacy."""

    IDENTIFYING = "identifying"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    LABEL = "label"
    INSENSITIVE = "insensitive"
    PSEUDONYM = "pseudonym"


class MaskSection(Section):
    """Characters hidden one by one, such as 1234* and 123** of a zip code."""

    character: Annotated[
        str, about("What hidden characters become.", "one character", min_length=1, max_length=1)
    ] = "*"
    side: Annotated[
        Literal["right", "left"], about("The side that is hidden first.", alias="from")
    ] = "right"


class HierarchySection(Section):
    """A hierarchy that is built over the values of the column, or read from a table."""

    intervals: Annotated[
        Annotated[list[Whole | Number], Field(min_length=1)] | None,
        about("Widths of intervals, each a whole multiple of the one before."),
    ] = None
    origin: Annotated[Whole | Number, about("Where an interval begins; goes with `intervals`.")] = 0
    mask: Annotated[
        MaskSection | None, about("Text loses one character a level; {} takes the defaults.")
    ] = None
    date: Annotated[
        Annotated[list[str], Field(min_length=1)] | None,
        about("Steps of the calendar, finest first, such as [day, month, year]."),
    ] = None
    table: Annotated[
        str | None,
        about("A table on the source's connection: one row a value, one column a level."),
    ] = None

    @model_validator(mode="after")
    def _one_builder(self) -> HierarchySection:
        given = [k for k in ("intervals", "mask", "date", "table") if getattr(self, k) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"give one of intervals, mask, date and table, not {found}")
        if self.intervals is None and "origin" in self.model_fields_set:
            raise ValueError("origin is for intervals; leave it out")
        return self


class ColumnSection(Section):
    """One column. Most keys are for quasi-identifiers; others say for which roles they are."""

    role: Annotated[Role, about("What the column means for privacy.")]
    weight: Annotated[
        Number, about("How much the loss of this column counts; only ratios matter.", ge=0)
    ] = 1.0
    family: Annotated[
        Family | None, about("Which partitions a search may use (quasi-identifiers).")
    ] = None
    values: Annotated[
        Annotated[list[Scalar | None], Field(min_length=1)] | None,
        about("The domain and its order; null may be among the values."),
    ] = None
    range: Annotated[
        tuple[Scalar, Scalar] | None,
        about(
            "The domain as intervals from lowest to highest; goes with `granularity`.",
            "two values, [lowest, highest]",
        ),
    ] = None
    granularity: Annotated[
        Whole | Number | str | None,
        about(
            "The width of one interval of the range.",
            f"a number or one of {', '.join(CALENDAR_STEPS)}",
        ),
    ] = None
    hierarchy: Annotated[
        str | HierarchySection | None,
        about(
            "The taxonomy of the column.",
            "the name of a file, or one of the keys intervals, mask, date and table",
        ),
    ] = None
    min_level: Annotated[
        Whole, about("The column is released at least as general as this level.", ge=0)
    ] = 0
    max_level: Annotated[
        Annotated[Whole, Field(ge=0)] | None,
        about("The column is never released more general than this level."),
    ] = None
    open_ends: Annotated[
        Flag | None,
        about(
            "Whether the outermost intervals are written without their outer ends, such as <20 "
            "and 85+. Unless given: where the domain is what the data hold."
        ),
    ] = None
    output: Annotated[
        Output,
        about(
            "How groups are written: as a label, or as numbers or dates (their lower end, their "
            "midpoint, or both ends in two columns); anything but label needs `range`."
        ),
    ] = Output.LABEL
    null_label: Annotated[
        Words | None, about("The text to release for NULL, which otherwise stays NULL.")
    ] = None
    form: Annotated[
        Form | None,
        about("How this generalization is written in SQL; unless given, as `publish.form` says."),
    ] = None
    stable: Annotated[
        Flag,
        about(
            "Pseudonyms only: the same ones in every release, which makes releases linkable; "
            "needs `key`."
        ),
    ] = False
    key: Annotated[
        str | None,
        about(
            "Stable pseudonyms only: the secret, at least 16 characters, normally a variable of "
            "the environment such as ${SQLANON_KEY}.",
            repr=False,
        ),
    ] = None
    accept: Annotated[
        Words | None,
        about(
            "Why a column that is near-unique, free text or contact-like may be released as it "
            "is (sensitive, label, insensitive and pseudonym)."
        ),
    ] = None

    @model_validator(mode="after")
    def _consistent(self) -> ColumnSection:
        refuse([*self._of_other_roles(), *self._about_the_domain(), *self._about_the_release()])
        return self

    def _of_other_roles(self) -> Iterator[str]:
        for key in type(self).model_fields:
            if key == "role" or key not in self.model_fields_set:
                continue
            whose, roles = _ROLES_OF.get(key, _QUASI_ONLY)
            if self.role not in roles:
                yield f"{key} is for {whose}; the role is {self.role}"

    def _about_the_domain(self) -> Iterator[str]:
        if self.values is not None and self.range is not None:
            yield "give the domain as values or as a range, not both"
        if (self.range is None) != (self.granularity is None):
            yield "range and granularity go together"
        if self.values is not None and isinstance(self.hierarchy, str):
            yield "the hierarchy file lists the domain already; leave values out"
        given = self.hierarchy
        if self.role is Role.SENSITIVE and isinstance(given, HierarchySection) and not given.table:
            yield (
                ".hierarchy: of a sensitive column is a file or a table; numbers and dates have "
                "an order that needs none"
            )
        if self.max_level is not None and self.min_level > self.max_level:
            yield (
                f"min_level {self.min_level} is above max_level {self.max_level}; lower the one "
                "or raise the other"
            )

    def _about_the_release(self) -> Iterator[str]:
        if self.role is Role.QUASI and self.output is not Output.LABEL:
            if self.range is None:
                yield (
                    f".output: {self.output} needs range and granularity, because the ends of "
                    "what the data hold would show the lowest and the highest person"
                )
            if self.null_label is not None:
                yield (
                    f".null_label: is text, and with output {self.output} the column holds "
                    "none; leave it out or take output label"
                )
        if self.role is not Role.PSEUDONYM:
            return
        if self.stable and self.key is None:
            yield (
                '.stable: needs key, such as key: "${SQLANON_KEY}", because the same pseudonyms '
                "come from the same secret"
            )
        if self.key is not None and not self.stable:
            yield (
                ".key: is for stable pseudonyms; leave it out, and every release takes a new "
                "secret that is then forgotten, or say stable: true"
            )


_QUASI_ONLY = ("quasi-identifiers", frozenset({Role.QUASI}))
_PSEUDONYMS = ("pseudonyms", frozenset({Role.PSEUDONYM}))
# Every other key is for quasi-identifiers.
_ROLES_OF = {
    "hierarchy": (
        "quasi-identifiers and sensitive columns",
        frozenset({Role.QUASI, Role.SENSITIVE}),
    ),
    "stable": _PSEUDONYMS,
    "key": _PSEUDONYMS,
    "accept": (
        "columns that are released as they are",
        frozenset({Role.SENSITIVE, Role.LABEL, Role.INSENSITIVE, Role.PSEUDONYM}),
    ),
}


class Others(StrEnum):
    """What happens to columns that the policy does not name."""

    REFUSE = "refuse"
    DROP = "drop"
    INSENSITIVE = "insensitive"


ABOUT_PRIVACY = about("What every class of the release must satisfy.")


class WorkspaceSection(Section):
    """Where measurements are kept between runs, and for how long."""

    file: Annotated[str, about("A DuckDB file, which is made when it does not exist.")]
    days: Annotated[
        Whole, about("Days after which what a run measured is removed.", ge=1, le=36_500)
    ] = KEPT_DAYS


class PolicySection(Section):
    """What is known of a table and what its release must satisfy."""

    source: Annotated[SourceSection, about("Where the table is.")] = SourceSection()
    columns: Annotated[
        dict[str, ColumnSection],
        about("What each column is.", "columns, such as age: {role: quasi}", min_length=1),
    ]
    others: Annotated[Others, about("What happens to columns that are not named.")] = Others.REFUSE
    subject: Annotated[str | None, about("The column that names the person a row is about.")] = None
    one_row_per_person: Annotated[Flag, about("Promises that every row is another person.")] = False
    privacy: Annotated[PrivacySection | None, ABOUT_PRIVACY] = None
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
    memory: Annotated[
        str | None,
        about(
            "The memory of a DuckDB that sqlanon opens, such as 2GB.",
            "a size such as 500MB or 2GB",
            pattern=r"^[1-9][0-9]*(\.[0-9]+)?[MGT]i?B$",
        ),
    ] = None
    workspace: Annotated[
        str | WorkspaceSection | None,
        about(
            "A DuckDB file that keeps measurements for the next run.",
            "the name of a file, or the keys file and days",
        ),
    ] = None
    publish: Annotated[PublishSection, about("Where the release goes and how it is made.")] = (
        PublishSection()
    )

    def __reduce__(self) -> tuple[Any, ...]:
        # The class with the keys of all models has no name in a module.
        return _restored, (self.model_dump(exclude_unset=True, by_alias=True),)

    @model_validator(mode="after")
    def _consistent(self) -> PolicySection:
        refuse(self.contradictions())
        return self

    def contradictions(self, broken: Collection[str] = ()) -> list[str]:
        """Contradictions between sections.

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

    def _counting_people(self) -> str | None:
        """The key of a model that counts people of a population, if there is one."""
        given = {} if self.privacy is None else self.privacy.models
        asked = (key for key, each in given.items() if each is not None)
        return next((key for key in asked if keys()[key].needs_population), None)

    def _about_the_population(self) -> Iterator[str]:
        counting = self._counting_people()
        if counting is not None and self.population is None:
            yield (
                f"privacy.{counting}: needs `population`, a table of the people that those of the "
                "source are a part of"
            )

    def _about_the_walk(self) -> Iterator[str]:
        start, aim = self.search.given.get("start"), self.preference
        if start is not None:
            usual = {"loss": "nwp", "bias": "necd"}
            for key, papers in usual.items():
                wanted = papers if aim is None else getattr(aim, key)
                if getattr(start, key) != wanted:
                    yield (
                        f"search.start.{key}: is {getattr(start, key)}, but the preference is in "
                        f"{wanted}; a walk has one measure"
                    )

    def _about_the_loss(self) -> Iterator[str]:
        labelled = any(c.role is Role.LABEL for c in self.columns.values())
        loss = self.search.loss
        if loss is not None and METRICS[loss].needs_label and not labelled:
            yield f"search.loss: {loss} needs a column with the role label"

    def uncovered_sensitive(self, *, accepted: bool = True) -> tuple[str, ...]:
        """The sensitive columns that no model is for, without those that are `accepted` so."""
        sensitive = [name for name, c in self.columns.items() if c.role is Role.SENSITIVE]
        sections = {} if self.privacy is None else self.privacy.of_columns()
        covered = {
            name
            for key, several in sections.items()
            if accepted or key != "homogeneity"
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
        counting = self._counting_people()
        is_file = self.population is not None and self.population.file is not None
        if self.publish.mode is Mode.VIEW and counting is not None and is_file:
            yield (
                f"population.file: a view with {counting} counts the population at every read, and "
                "reads what is in its own database; copy the file into a table there"
            )

    def _about_a_view(self) -> Iterator[str]:
        pseudonyms = any(c.role is Role.PSEUDONYM for c in self.columns.values())
        if self.publish.mode is Mode.VIEW and pseudonyms:
            yield (
                "publish.mode: a view would show the secret of its pseudonyms to everyone "
                "who can read its definition; take mode table"
            )


def policy_section() -> type[PolicySection]:
    """The policy with the keys of all privacy models that are registered now."""
    return _policy_section(privacy_section())


@cache
def _policy_section(privacy: type[PrivacySection]) -> type[PolicySection]:
    field: Any = (Annotated[privacy | None, ABOUT_PRIVACY], None)
    return create_model(
        "PolicySection", __base__=PolicySection, __doc__=PolicySection.__doc__, privacy=field
    )


def _restored(document: dict[str, Any]) -> PolicySection:
    return policy_section().model_validate(document)


DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "Policy of sqlanon"


def policy_json_schema() -> dict[str, Any]:
    """Accepts every policy that sqlanon accepts, and some whose keys contradict each other."""
    schema = _clean(policy_section().model_json_schema())
    return {"$schema": DIALECT, "title": TITLE, **schema}


def _clean(node: Any) -> Any:
    """Without the words of our own messages, and without what says nothing to an editor.

    Titles that only repeat the names of keys hide their descriptions, and defaults that are
    null or whole sections would be written into files by completion.
    """
    if isinstance(node, list):
        return [_clean(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _clean(each) for name, each in value.items()}
        if key in ("properties", "$defs")
        else _clean(value)
        for key, value in node.items()
        if key not in ("title", "allowed")
        and not (key == "default" and isinstance(value, dict | None))
    }
