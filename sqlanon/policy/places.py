"""Where a table comes from and where its release goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import model_validator

from sqlanon.model import Form, Mode, Order, Unseen
from sqlanon.policy.fields import Section, Words, about, refuse

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

    @model_validator(mode="after")
    def _one_relation(self) -> SourceSection:
        given = [k for k in ("table", "query", "file") if getattr(self, k) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of table, query and file, not {' and '.join(given)}")
        if self.file is not None and self.connection is not None:
            raise ValueError("a file needs no connection; leave one of the two out")
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
    order: Annotated[Order, about("The order of released rows; the source's is never kept.")] = (
        Order.SORTED
    )
    unseen: Annotated[
        Unseen,
        about(
            "What becomes of values that were not there when the scheme was found: an error, "
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
