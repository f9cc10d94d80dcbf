"""Files written in private, read back, and put in place: a release, or a database anew."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sqlglot import exp

from sqlanon.audit import Facts, audit, table_hash
from sqlanon.engines import (
    LOST_IN_PARQUET,
    UNCHANGED,
    DatabaseCopy,
    Engine,
    Kind,
    Source,
    copied_database,
    file_pattern,
    is_csv,
    is_text_type,
)
from sqlanon.errors import EngineError, PublishError
from sqlanon.files import PrivateFolder, finish_file, remove_dead_folders
from sqlanon.release.plan import RELEASE_COMMENT, ReleasePlan
from sqlanon.release.stage import Stages
from sqlanon.render import NATIVE, render


class Export:
    """Writes a staged table to a CSV or Parquet file.

    A CSV file holds the text of every value. Text is always quoted and NULL is an empty field
    without quotes, so that NULL, an empty text and the text NULL differ. Its hash is that of
    the table of these texts: whoever reads the file as text can compute it.
    """

    def __init__(self, engine: Engine, staged: Source, plan: ReleasePlan) -> None:
        assert plan.order.file is not None
        self.file = plan.order.file.resolve()
        self._is_csv = is_csv(self.file)
        self._engine = engine
        self._table = plan.stage
        self._names = plan.released_names
        self._columns = [info for info in staged.columns if info.name in self._names]
        self._written = self.file

    def statement(self, path: Path) -> str:
        """The COPY that writes the file."""
        if not self._is_csv:
            return render(
                "release/copy_parquet.sql",
                select=exp.select(*map(_column, self._names)).from_(self._table.copy()),
                path=str(path),
                mark=RELEASE_COMMENT,
            )
        quoted = [c.name for c in self._columns if c.kind in (Kind.TEXT, None)]
        return render("release/copy_csv.sql", select=self._texts(), path=str(path), quoted=quoted)

    def hash(self, facts: Facts) -> str:
        """The hash that the file must have: of a Parquet file, that of the verified rows."""
        if not self._is_csv:
            return facts.hash
        columns = tuple(replace(c, kind=Kind.TEXT, type="TEXT") for c in self._columns)
        texts = Source(self._engine, self._texts().subquery("texts"), "the release", columns)
        return table_hash(texts, self._names, grouped=facts.rows_repeat)

    def write(self, private: PrivateFolder) -> None:
        """Writes the file into a private folder beside its place."""
        self._private = private
        self._written = private.path / f"release{self.file.suffix}"
        self._engine.run(self.statement(self._written))

    def finish(self) -> None:
        """Puts the file in its place."""
        finish_file(self._written, self.file)
        self._private.remove()

    def check(self, facts: Facts) -> None:
        """Reads the file back: the same rows, and classes of the same sizes."""
        path = self._written
        if self._is_csv:
            with path.open(newline="", encoding="utf-8") as file:
                header = next(csv.reader(file), [])
            if header != list(self._names):
                raise self._differs("its header names other columns")
        found = Source.of(self._engine, written_file(path, self._names), "the written file")
        if table_hash(found, self._names, grouped=facts.rows_repeat) != facts.hash:
            raise self._differs(self._changed_types(found))
        staged = facts.audited
        if audit(found, staged.quasi).by_rows.sizes != staged.by_rows.sizes:
            raise self._differs("its classes have other sizes")

    def _texts(self) -> exp.Select:
        texts = [exp.cast(_column(n), "text").as_(n, quoted=True) for n in self._names]
        return exp.select(*texts).from_(self._table.copy())

    def _changed_types(self, found: Source) -> str:
        before = {info.name: info.type for info in self._columns}
        lost = _no_such_types(before, {info.name: info.type for info in found.columns})
        return "its rows differ" if lost is None else f"its rows differ; {lost}"

    def _differs(self, how: str) -> PublishError:
        return PublishError(f"The file, read back, is not what was written: {how}. {UNCHANGED}")


def unheld_types(path: Path, columns: Iterable[tuple[str, str]]) -> str | None:
    """Names the columns whose type the format of a file does not have, before it is written.

    `columns` are names and types; None where the format is known to lack none of them.
    """
    if is_csv(path):
        return None
    before = dict(columns)
    after = {name: LOST_IN_PARQUET.get(type_, type_) for name, type_ in before.items()}
    return _no_such_types(before, after)


def _no_such_types(before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
    changed = [
        f"{name!r} ({type_} becomes {after[name]})"
        for name, type_ in before.items()
        if name in after and after[name] != type_ and not is_text_type(after[name])
    ]
    if not changed:
        return None
    return (
        f"the format has no such type: {', '.join(changed)}; cast it to DECIMAL or text in a "
        "source query, or publish to a .csv file"
    )


def written_file(path: Path, names: tuple[str, ...]) -> exp.Expr:
    """The rows of a file that an Export wrote, those of a CSV file as texts."""
    name = "read_csv.sql" if is_csv(path) else "read_parquet.sql"
    text = render(f"release/{name}", path=file_pattern(path), names=list(names))
    return exp.maybe_parse(text, dialect=NATIVE).subquery("written")


def is_marked(engine: Engine, path: Path) -> bool:
    """Whether a Parquet file says of itself that it is a release; a CSV file cannot."""
    if is_csv(path):
        return False
    text = render("release/parquet_mark.sql", path=file_pattern(path), mark=RELEASE_COMMENT)
    try:
        return bool(engine.fetch(text).num_rows)
    except EngineError:
        return False  # no Parquet file at all


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def rewrite_database(
    path: str | Path,
    address: str | None = None,
    *,
    on_stage: Callable[[str], None] | None = None,
    memory: str | None = None,
) -> None:
    """Writes a database file anew beside itself and puts the new one in its place.

    `address` says of which engine the file is, unless it is the one of bare paths. The new file
    has the same tables, rows, views, macros, sequences, types, indexes, comments
    and permissions; if anything differs, or another process has the file open, it is refused
    with PublishError or EngineError and the file stays as it is. Close every connection of this
    process to the file first. The disk may keep the blocks of the former file for a while.
    """
    old = Path(path).resolve()
    if not old.is_file():
        raise EngineError(f"Database {path} does not exist.")
    stages = Stages(on_stage)
    stages.enter("preparing")
    remove_dead_folders(old.parent)
    with PrivateFolder(old.parent) as private:
        new = private.path / "rewritten"
        with closing(copied_database(address, old, new, memory)) as copied:
            written = _rewritten(copied, old, new, stages)
    stages.enter("rewritten", written)
    stages.finish()


def _rewritten(copied: DatabaseCopy, old: Path, new: Path, stages: Stages) -> str:
    stages.enter("copying")
    copied.copy()
    stages.enter("comparing")
    pairs = copied.tables()
    rows = sum(_compared_rows(copied, old, *pair) for pair in pairs)
    copied.finish()
    written = f"{rows:,} rows in {len(pairs):,} tables"
    stages.enter("swapping", written)
    _keep_owner(old, new)
    finish_file(new, old)
    return written


def _compared_rows(copied: DatabaseCopy, old: Path, table: exp.Table, other: exp.Table) -> int:
    """The number of rows of a table, after its copy was found to hold the same."""
    engine = copied.engine
    names = [column.name for column in engine.columns(table)]
    counts, hashes = [], []
    for each in (table, other):
        number = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(each)
        counts.append(int(engine.fetch(number)["n"][0].as_py()))
        # Tables of a user may be of any size, with cells of any size: row by row.
        hashes.append(table_hash(Source.of(engine, each), names, grouped=False))
    if counts[0] != counts[1] or hashes[0] != hashes[1]:
        raise PublishError(
            f"The new file differs from {old} in the rows of table {table.name!r}. {UNCHANGED}"
        )
    return counts[0]


def _keep_owner(old: Path, new: Path) -> None:
    before, after = old.stat(), new.stat()
    if (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
        try:
            shutil.chown(new, before.st_uid, before.st_gid)
        except OSError as error:
            raise PublishError(
                f"{old} belongs to another user or group, and the new file cannot be "
                f"given to them: {error.strerror}. {UNCHANGED}"
            ) from error
