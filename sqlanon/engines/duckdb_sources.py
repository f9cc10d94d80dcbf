"""The forms of data that DuckDB can read, each as a Source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlanon.engines.duckdb_catalog import REMOTE
from sqlanon.engines.protocol import ColumnInfo, Data, Engine, Source, held, is_dataframe
from sqlanon.engines.registry import SUFFIXES, file_pattern
from sqlanon.errors import EngineError
from sqlanon.files import folder_of, refuse_impossible
from sqlanon.wording import looked_in

if TYPE_CHECKING:
    from sqlanon.engines.duckdb import DuckDBEngine

Options: TypeAlias = dict[str, int | str | bool | list[str]]

_QUERIED = (*SUFFIXES, ".json", ".jsonl", ".ndjson", ".gz", ".zst")
"""Names that DuckDB takes for files where it finds no table, in any folder."""

# Parts of a query that would change the database; DuckDB runs an INSERT inside a WITH.
_CHANGES = (exp.DML, exp.DDL, exp.Drop, exp.Command)


_CSV_TYPES = ["NULL", "BIGINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
"""What a column of a CSV file may be taken for: all of DuckDB's own list but BOOLEAN."""
_FORMATS = {"DATE": "DateFormat", "TIMESTAMP": "TimestampFormat"}
"""Types that a CSV file may write in its own way, and where DuckDB says in which."""


def query(engine: DuckDBEngine, text: str) -> Source:
    """The rows of one SELECT, WITH … SELECT or FROM …, in DuckDB's SQL.

    The query becomes part of larger statements, so it is parsed and written anew. Where that
    yields other columns than the text itself does, it is refused: a view does the same.
    """
    engine.reading = "the source's query (source.query of a policy)"
    relation = _parse_query(engine, text)
    originals = engine.describe(text)
    engine.complete(relation)
    _refuse_twins([name for name, _ in originals], "The query")
    source = _source(engine, relation, "query")
    if [(column.name, column.type) for column in source.columns] != originals:
        raise EngineError(
            "The query cannot be used as part of another statement without changing its "
            "columns. Create a view of it and name the view as the table."
        )
    return source


def file(engine: DuckDBEngine, path: str | Path) -> Source:
    """A CSV, TSV or Parquet file, chosen by its suffix; the path is one file, not a pattern.

    DuckDB detects a CSV file's delimiter, header and types, here from the whole file, so that a
    late value cannot contradict a type. Numbers with a leading zero ("01234") stay text, and so
    do yes and no, T and F, true and false, which a release is to show as they are written. An
    empty field is NULL, and so is a quoted empty one (""): a CSV source holds no empty strings.
    Folders such as `year=2026` on the way to the file add no columns.
    """
    path = Path(path)
    suffix = next((each for each in SUFFIXES if path.name.lower().endswith(each)), None)
    if suffix is None:
        raise EngineError(f"File {path} has none of the known suffixes: {', '.join(SUFFIXES)}.")
    refuse_impossible(path)
    if not path.exists():
        raise EngineError(f"File {path} does not exist{looked_in(path)}.")
    if path.is_dir():
        raise EngineError(f"{path} is a folder, not a file.")
    if path.stat().st_size == 0:
        raise EngineError(f"File {path} is empty.")
    options = _file_options(suffix)
    if suffix != ".parquet":
        options["auto_type_candidates"] = _CSV_TYPES
    engine.reading = f"file {path}"
    function = "read_parquet" if suffix == ".parquet" else "read_csv"
    try:
        return _source(engine, _call(function, file_pattern(path), options), str(path))
    except EngineError as error:
        if str(error).startswith(f"File {path}"):
            raise
        raise EngineError(f"File {path} cannot be read. {error}") from error


def folders_in(query: str) -> list[Path]:
    """The folders of the files that a query names; of a pattern, the part without wildcards."""
    try:
        parsed = [each for each in sqlglot.parse(query, dialect="duckdb") if each]
    except (sqlglot.ParseError, sqlglot.TokenError, RecursionError):
        return []  # refused later, with the reason
    tables = [table for each in parsed for table in each.find_all(exp.Table)]
    named = [table for table in tables if isinstance(table.this, exp.Identifier)]
    paths = [".".join(part.name for part in table.parts) for table in named]
    paths = [path for path in paths if "/" in path or path.lower().endswith(_QUERIED)]
    for call in tables:
        if not isinstance(call.this, exp.Identifier):
            texts = [each.this for each in call.find_all(exp.Literal) if each.is_string]
            paths += [text for text in texts if "/" in text or "." in text or _is_file(text)]
    return [_folder(path.removeprefix("file://")) for path in paths if not REMOTE.match(path)]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return False


def _folder(pattern: str) -> Path:
    path = Path(pattern)
    for parent in reversed(path.parents):
        if any(char in parent.name for char in "*?[{"):
            return parent.parent
    return path.parent if any(char in path.name for char in "*?[{") else folder_of(path)


def as_written(source: Source, path: str | Path, columns: Collection[str]) -> Source:
    """The CSV file that `source` reads, some of its columns as they are written.

    In these every value is the text of its field: 1.0 and 1.00 differ, and so do an empty
    field, which is NULL, and a quoted empty one, which is an empty text. The other columns are
    as in `source`, but that dates and times are texts, equal ones for equal values.
    """
    path = Path(path)
    options = _file_options(path.suffix.lower())
    options |= {"all_varchar": True, "allow_quoted_nulls": False}
    call = _call("read_csv", file_pattern(path), options)
    texts = [info.name for info in source.engine.columns(call)]
    if texts != [info.name for info in source.columns]:
        raise EngineError(
            f"File {path} has no header that is clear: as texts its columns are others. Give it "
            "a first line with their names."
        )
    others = [info for info in source.columns if info.name not in columns]
    formats = _formats(source.engine, path) if any(each.type in _FORMATS for each in others) else {}
    read = [
        (_valued(info, formats) if info in others else exp.column(info.name, quoted=True)).as_(
            info.name, quoted=True
        )
        for info in source.columns
    ]
    relation = exp.select(*read).from_(call).subquery("source")
    return _source(source.engine, relation, source.name)


def _formats(engine: Engine, path: Path) -> dict[str, str]:
    """How the dates and timestamps of a CSV file are written, where that is not as in SQL."""
    options = _file_options(path.suffix.lower()) | {"auto_type_candidates": _CSV_TYPES}
    call = _call("sniff_csv", file_pattern(path), options)
    (found,) = engine.fetch(exp.select(*_FORMATS.values()).from_(call)).to_pylist()
    return {type_: found[name] for type_, name in _FORMATS.items() if found[name]}


def _valued(info: ColumnInfo, formats: Mapping[str, str]) -> exp.Expr:
    """The meaning of a field rather than its spelling; an empty field in quotes is NULL too."""
    text = exp.Nullif(this=exp.column(info.name, quoted=True), expression=exp.Literal.string(""))
    if info.type == "VARCHAR":
        return text
    if info.type in ("BIGINT", "DOUBLE"):
        return exp.cast(text, info.type)
    type_ = exp.DataType.build(info.type, dialect="duckdb")
    value: exp.Expr = exp.TryCast(this=text, to=type_)
    if info.type in formats:
        arguments = [text.copy(), exp.Literal.string(formats[info.type])]
        parsed = exp.Anonymous(this="try_strptime", expressions=arguments)
        value = exp.Coalesce(this=exp.cast(parsed, type_.copy()), expressions=[value])
    return exp.cast(value, "VARCHAR")


def data(engine: DuckDBEngine, content: Data) -> Source:
    """A pandas DataFrame (without its index), an Arrow table, or what has an Arrow stream.

    In a DataFrame NaN, None and NaT are NULL, as pandas means them; in an Arrow table NaN is
    a number and only null is NULL. The data are not copied where that can be avoided: leave
    them unchanged while the source is in use. The engine must own its connection.
    """
    content = held(content)
    if is_dataframe(content):
        name = "DataFrame"
        _refuse_twins([str(column) for column in content.columns], "The DataFrame")
        try:
            arrow = pa.Table.from_pandas(content, preserve_index=False)
        except (pa.ArrowException, ValueError, TypeError) as error:
            # pyarrow quotes the value, and names the column in an argument of its own.
            named = [str(part) for part in error.args if str(part).startswith("Conversion failed")]
            reason = named[0] if named else "Its columns hold what is no value of one type"
            raise EngineError(
                f"The DataFrame cannot be read as a table. {reason}; give the column one type."
            ) from error
    else:
        assert isinstance(content, pa.Table)
        name, arrow = "Arrow table", content
        _refuse_twins(arrow.column_names, "The Arrow table")
    if not arrow.column_names:
        raise EngineError(f"The {name} is empty: a source has at least one column.")
    engine.reading = f"the {name}"
    return _source(engine, engine.register(arrow), name)


def _source(engine: Engine, relation: exp.Expr, name: str) -> Source:
    return Source(engine, relation, name, engine.columns(relation))


def _parse_query(engine: DuckDBEngine, text: str) -> exp.Subquery:
    refusal = EngineError(
        "A query must be one SELECT that changes nothing; for anything else create a view or "
        "a table first, and name that."
    )
    if not engine.is_one_select(text):
        raise refusal
    try:
        statements = [each for each in sqlglot.parse(text, dialect="duckdb") if each]
    except (sqlglot.ParseError, sqlglot.TokenError, RecursionError) as error:
        raise EngineError(
            "The query uses syntax that sqlanon cannot parse. Create a view of it and name the "
            f"view as the table. {str(error).splitlines()[0]}"
        ) from error
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise refusal
    if statements[0].find(*_CHANGES):
        raise refusal
    return statements[0].subquery("source")


def _file_options(suffix: str) -> Options:
    """How a file is read, whatever its columns are taken for."""
    options: Options = {"hive_partitioning": False}
    if suffix != ".parquet":
        options["sample_size"] = -1
    if suffix.endswith(".gz"):
        options["compression"] = "gzip"
    return options


def _call(function: str, pattern: str, options: Options) -> exp.Expr:
    arguments = [
        exp.Kwarg(this=exp.var(name), expression=exp.convert(value))
        for name, value in options.items()
    ]
    return exp.Table(
        this=exp.func(function, exp.Literal.string(pattern), *arguments, dialect="duckdb")
    )


def _refuse_twins(names: Sequence[str], what: str) -> None:
    """DuckDB ignores case in names and renames all but the first of equal ones."""
    for twins in _twins(names):
        listed = " and ".join(repr(name) for name in twins)
        raise EngineError(
            f"{what} has columns that DuckDB cannot tell apart: {listed}. Rename all but one."
        )


def _twins(names: Iterable[str]) -> list[list[str]]:
    by_lower: dict[str, list[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), []).append(name)
    return [same for same in by_lower.values() if len(same) > 1]
