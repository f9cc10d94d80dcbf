"""What DuckDB's catalog knows: where names lead, and what hangs on a table."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from sqlanon.engines.base import ColumnDetails, Engine, TableDetails
from sqlanon.errors import EngineError

_OBJECTS = """
SELECT database_name, schema_name, table_name AS name, FALSE AS is_view, comment, NULL AS sql
FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT database_name, schema_name, view_name, TRUE, comment, sql
FROM duckdb_views() WHERE NOT internal
"""
_SCHEMAS = "SELECT database_name, schema_name FROM duckdb_schemas()"
_PATH = """
SELECT current_database() AS database, current_schema() AS schema,
  current_setting('search_path') AS path
"""
_COLUMNS = """
SELECT database_name, schema_name, table_name, column_name, data_type, is_nullable, comment,
  column_default, is_generated
FROM duckdb_columns() WHERE NOT internal ORDER BY column_index
"""
_CONSTRAINTS = """
SELECT database_name, schema_name, table_name, constraint_type, constraint_text, referenced_table
FROM duckdb_constraints() WHERE constraint_type <> 'NOT NULL' ORDER BY ALL
"""
_INDEXES = """
SELECT database_name, schema_name, table_name, index_name FROM duckdb_indexes() ORDER BY ALL
"""
_FILES = "SELECT database_name, path, readonly FROM duckdb_databases() WHERE path IS NOT NULL"
_SPILL = "SELECT current_setting('temp_directory') AS folder"
# Since DuckDB 2.0 the names hold the number of the process.
_SPILLED = re.compile(r"duckdb_temp_(?:(\d+)_\d+_)?(?:owner|storage|block).*")
_ON_PATH = re.compile(r'"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^",.]+)|(?P<comma>,)')

Row = dict[str, Any]
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(name: str) -> str:
    """Equal for names that DuckDB takes for the same: it ignores the case of A to Z only."""
    return name.translate(_LOWER)


def same(one: exp.Table, other: exp.Table) -> bool:
    """Whether two full names are the same."""
    return _key(one) == _key(other)


def locate(engine: Engine, table: exp.Table, *, to_create: bool) -> exp.Table:
    """The full name that DuckDB gives to a table, in the spelling of the catalog."""
    candidates = list(places(engine, table, to_create))
    if not candidates:
        raise EngineError(_no_schema(table))
    found = {_key(_table(row)): _table(row) for row in _rows(engine, _OBJECTS)}
    for place in candidates:
        if _key(place) in found:
            return found[_key(place)]
    return next((place for place in candidates if place.catalog != "temp"), candidates[0])


def _no_schema(table: exp.Table) -> str:
    schema = exp.to_identifier(table.db, quoted=True).sql("duckdb")
    within = f" in the database {table.catalog!r}" if table.catalog else ""
    return (
        f"There is no schema {table.db!r}{within} for the table {table.name!r}. Make it with "
        f"CREATE SCHEMA {schema}, or name the table without a schema or with one that exists."
    )


def places(engine: Engine, table: exp.Table, to_create: bool = False) -> Iterator[exp.Table]:
    """Where a table of this name may be, in the order in which DuckDB looks."""
    (here,) = _rows(engine, _PATH)
    schemas = [(row["database_name"], row["schema_name"]) for row in _rows(engine, _SCHEMAS)]
    path = list(_search_path(here))
    if table.catalog:
        wanted = [(table.catalog, table.db)]
    elif table.db:
        catalogs = dict.fromkeys(catalog for catalog, _ in path)
        # DuckDB refuses a name that is both a schema and a database.
        wanted = [*((catalog, table.db) for catalog in catalogs), (table.db, "main")]
    else:
        wanted = path if to_create else [("temp", "main"), *path]
    spelled = {(fold(catalog), fold(schema)): (catalog, schema) for catalog, schema in schemas}
    for place in wanted:
        key = (fold(place[0]), fold(place[1]))
        if key in spelled:
            catalog, schema = spelled[key]
            yield exp.table_(table.name, db=schema, catalog=catalog, quoted=True)


def _search_path(here: Row) -> Iterator[tuple[str, str]]:
    """Without the schema of DuckDB's own functions, where nothing can be made."""
    found = [(here["database"], here["schema"])]
    for *database, schema in _listed(here["path"]):
        found.append((database[0] if database else here["database"], schema))
    yield from (place for place in found if place[0] != "system")


def _listed(path: str) -> list[list[str]]:
    """The entries of a search path; DuckDB quotes names in it only if they hold , . or "."""
    entries: list[list[str]] = [[]]
    for match in _ON_PATH.finditer(path):
        if match["comma"]:
            entries.append([])
        else:
            quoted = match["quoted"]
            name = match["plain"].strip() if quoted is None else quoted.replace('""', '"')
            entries[-1].append(name)
    return [entry for entry in entries if entry]


def schemas_of(engine: Engine, database: str) -> list[str]:
    """The schemas of a database that can be on a search path."""
    return [
        row["schema_name"] for row in _rows(engine, _SCHEMAS) if row["database_name"] == database
    ]


def details(engine: Engine, table: exp.Table) -> TableDetails | None:
    objects = _rows(engine, _OBJECTS)
    row = next((row for row in objects if same(_table(row), table)), None)
    if row is None:
        return None
    columns = tuple(
        ColumnDetails(
            name=each["column_name"],
            type=each["data_type"],
            nullable=each["is_nullable"],
            comment=each["comment"],
            default=each["column_default"],
            is_generated=each["is_generated"],
        )
        for each in _about(engine, _COLUMNS, table)
    )
    constraints = [each["constraint_text"] for each in _about(engine, _CONSTRAINTS, table)]
    indexes = [each["index_name"] for each in _about(engine, _INDEXES, table)]
    return TableDetails(
        table=_table(row),
        is_view=row["is_view"],
        comment=row["comment"],
        columns=columns,
        constraints=tuple(constraints),
        indexes=tuple(indexes),
        referenced_by=tuple(_referring(engine, table)),
        views=tuple(_table(each) for each in objects if each["is_view"] and _names(each, table)),
    )


def _referring(engine: Engine, table: exp.Table) -> Iterator[str]:
    """A foreign key stays within its schema, and one within its own table goes with it."""
    for row in _rows(engine, _CONSTRAINTS):
        other = exp.table_(row["table_name"], row["schema_name"], row["database_name"])
        referenced = row["referenced_table"]
        if referenced and not same(other, table):
            meant = exp.table_(referenced, row["schema_name"], row["database_name"])
            if same(meant, table):
                yield row["table_name"]


def _names(view: Row, table: exp.Table) -> bool:
    """Whether the text of a view has the name of the table; an unreadable text may."""
    if same(_table(view), table):
        return False
    try:
        parsed = sqlglot.parse_one(view["sql"], dialect="duckdb")
    except (sqlglot.ParseError, sqlglot.TokenError):
        return fold(table.name) in fold(view["sql"])
    return any(
        fold(each.name) == fold(table.name)
        and fold(each.db or table.db) == fold(table.db)
        and fold(each.catalog or table.catalog) == fold(table.catalog)
        and not same(each, _table(view))
        for each in parsed.find_all(exp.Table)
    )


def tables_like(engine: Engine, prefix: str, comment: str) -> tuple[exp.Table, ...]:
    return tuple(
        _table(row)
        for row in _rows(engine, _OBJECTS)
        if not row["is_view"]
        and row["name"].startswith(prefix)
        and row["comment"] == comment
        and row["database_name"] != "temp"
    )


def objects(engine: Engine) -> list[tuple[exp.Table, str | None]]:
    """Every table and view by its full name, with the text of a view."""
    return [(_table(row), row["sql"]) for row in _rows(engine, _OBJECTS)]


def all_files(engine: Engine) -> tuple[Path, ...]:
    """The files of all databases, also of those that are open for reading only."""
    return tuple(Path(row["path"]) for row in _rows(engine, _FILES))


def database_files(engine: Engine) -> tuple[Path, ...]:
    return tuple(Path(row["path"]) for row in _rows(engine, _FILES) if not row["readonly"])


def file_of(engine: Engine, table: exp.Table) -> Path | None:
    rows = [row for row in _rows(engine, _FILES) if row["database_name"] == table.catalog]
    return Path(rows[0]["path"]) if rows else None


def name_of_file(engine: Engine, path: Path) -> str:
    """The name under which a file is attached."""
    names = [
        row["database_name"]
        for row in _rows(engine, _FILES)
        if Path(row["path"]).exists() and Path(row["path"]).samefile(path)
    ]
    return str(names[0])


def stale_spill_files(engine: Engine) -> tuple[Path, ...]:
    """Spill files beside databases that this process alone has open: it may write to them.

    Those of this process are left alone, because a connection of it may be using them, and so
    is a spill folder that is not the database's own, because others may share it.
    """
    (row,) = _rows(engine, _SPILL)
    own = {Path(f"{path}.tmp") for path in database_files(engine)}
    folder = Path(row["folder"] or "")
    if folder not in own or not folder.is_dir():
        return ()
    found = []
    for path in sorted(folder.iterdir()):
        match = _SPILLED.fullmatch(path.name)
        if match and match[1] != str(os.getpid()):
            found.append(path)
    return tuple(found)


def _rows(engine: Engine, query: str) -> list[Row]:
    rows: list[Row] = engine.fetch(query).to_pylist()
    return rows


def _about(engine: Engine, query: str, table: exp.Table) -> list[Row]:
    return [
        row
        for row in _rows(engine, query)
        if same(exp.table_(row["table_name"], row["schema_name"], row["database_name"]), table)
    ]


def _table(row: Row) -> exp.Table:
    return exp.table_(row["name"], row["schema_name"], row["database_name"], quoted=True)


def _key(table: exp.Table) -> tuple[str, str, str]:
    return fold(table.catalog), fold(table.db), fold(table.name)
