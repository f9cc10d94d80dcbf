"""A release as a file: written in private, read back, and then put in its place."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from sqlglot import exp

from sqlanon.engines import ColumnInfo, PublishingEngine, Source
from sqlanon.errors import EngineError, PublishError
from sqlanon.model import Kind
from sqlanon.publish.place import RELEASE_COMMENT
from sqlanon.publish.transaction import UNCHANGED
from sqlanon.render import render
from sqlanon.verify import Verification, audit, table_hash

_LOST_IN_PARQUET = {"HUGEINT": "DOUBLE", "UHUGEINT": "DOUBLE"}
"""Types that Parquet does not have, and what comes back instead of them: other values. Further
ones are found when the file is read back."""


class Export:
    """Writes a staged table to a CSV or Parquet file.

    A CSV file holds the text of every value. Text is always quoted and NULL is an empty field
    without quotes, so that NULL, an empty text and the text NULL differ. Its hash is that of
    the table of these texts: whoever reads the file as text can compute it.
    """

    def __init__(self, engine: PublishingEngine, table: exp.Table, names: tuple[str, ...]) -> None:
        self._engine = engine
        self._table = table
        self._names = names

    def statement(self, path: Path, columns: tuple[ColumnInfo, ...]) -> str:
        """The COPY that writes the file; `columns` are those of the staged table."""
        if not _is_csv(path):
            return render(
                "publish/copy_parquet.sql",
                select=exp.select(*map(_column, self._names)).from_(self._table.copy()),
                path=str(path),
                mark=RELEASE_COMMENT,
            )
        quoted = [c.name for c in columns if c.kind in (Kind.TEXT, None) and c.name in self._names]
        return render("publish/copy_csv.sql", select=self._texts(), path=str(path), quoted=quoted)

    def hash(self, path: Path, typed: str) -> str:
        """The hash that the file must have; `typed` is that of the staged table."""
        if not _is_csv(path):
            return typed
        return table_hash(self._engine, self._texts().subquery("texts"), self._names)

    def check(self, path: Path, wanted: str, verification: Verification) -> None:
        """Reads the file back: the same rows, and classes of the same sizes."""
        relation = written_file(path, self._names)
        if _is_csv(path):
            with path.open(newline="", encoding="utf-8") as file:
                header = next(csv.reader(file), [])
            if header != list(self._names):
                raise self._differs("its header names other columns")
        found = table_hash(self._engine, relation, self._names)
        if found != wanted:
            raise self._differs(self._changed_types(relation))
        staged = verification.audit
        assert staged is not None
        columns = self._engine.columns(relation)
        source = Source(self._engine, relation, "the written file", columns)
        if audit(source, staged.quasi).by_rows.sizes != staged.by_rows.sizes:
            raise self._differs("its classes have other sizes")

    def _texts(self) -> exp.Select:
        texts = [exp.cast(_column(n), "text").as_(n, quoted=True) for n in self._names]
        return exp.select(*texts).from_(self._table.copy())

    def _changed_types(self, relation: exp.Expr) -> str:
        before = {info.name: info.type for info in self._engine.columns(self._table)}
        after = {info.name: info.type for info in self._engine.columns(relation)}
        lost = _no_such_types(before, after)
        return "its rows differ" if lost is None else f"its rows differ; {lost}"

    def _differs(self, how: str) -> PublishError:
        return PublishError(f"The file, read back, is not what was written: {how}. {UNCHANGED}")


def unheld_types(path: Path, columns: Iterable[tuple[str, str]]) -> str | None:
    """Names the columns whose type the format of a file does not have, before it is written.

    `columns` are names and types; None where the format is known to lack none of them.
    """
    if _is_csv(path):
        return None
    before = dict(columns)
    after = {name: _LOST_IN_PARQUET.get(type_, type_) for name, type_ in before.items()}
    return _no_such_types(before, after)


def _no_such_types(before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
    changed = [
        f"{name!r} ({type_} becomes {after[name]})"
        for name, type_ in before.items()
        if name in after and after[name] not in (type_, "VARCHAR")
    ]
    if not changed:
        return None
    return (
        f"the format has no such type: {', '.join(changed)}; cast it to DECIMAL or text in a "
        "source query, or publish to a .csv file"
    )


def written_file(path: Path, names: tuple[str, ...]) -> exp.Expr:
    """The rows of a file that an Export wrote, those of a CSV file as texts."""
    name = "read_csv.sql" if _is_csv(path) else "read_parquet.sql"
    text = render(f"publish/{name}", path=_as_pattern(path), names=list(names))
    return exp.maybe_parse(text, dialect="duckdb").subquery("written")


def is_marked(engine: PublishingEngine, path: Path) -> bool:
    """Whether a Parquet file says of itself that it is a release; a CSV file cannot."""
    if _is_csv(path):
        return False
    text = render("publish/parquet_mark.sql", path=_as_pattern(path), mark=RELEASE_COMMENT)
    try:
        return bool(engine.fetch(text).num_rows)
    except EngineError:
        return False  # no Parquet file at all


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _as_pattern(path: Path) -> str:
    """The pattern that matches this one file: DuckDB expands *, ? and [ in file names."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))
