"""Reads DuckDB's catalog: what names mean, what depends on a table, what a relation reads."""

from __future__ import annotations

import json
import os
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import sqlglot
from sqlglot import exp

from sqlanon.engines.protocol import ColumnDetails, Reads, Row, TableDetails, is_cte
from sqlanon.errors import EngineError

if TYPE_CHECKING:
    from sqlanon.engines.duckdb import DuckDBEngine

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
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(name: str) -> str:
    """Folds a name as DuckDB does for comparison: only A to Z lose their case."""
    return name.translate(_LOWER)


def same(one: exp.Table, other: exp.Table) -> bool:
    """Whether two full names are the same."""
    return _key(one) == _key(other)


def locate(engine: DuckDBEngine, table: exp.Table, *, to_create: bool = False) -> exp.Table:
    """The full name that DuckDB gives to a table, in the spelling of the catalog."""
    candidates = list(places(engine, table, to_create))
    if not candidates:
        raise EngineError(_no_schema(table))
    found = {_key(_table(row)): _table(row) for row in engine.known(_OBJECTS)}
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


def places(engine: DuckDBEngine, table: exp.Table, to_create: bool = False) -> Iterator[exp.Table]:
    """The places where DuckDB looks for a table of this name, in order."""
    (here,) = engine.known(_PATH)
    schemas = [(row["database_name"], row["schema_name"]) for row in engine.known(_SCHEMAS)]
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


def schemas_of(engine: DuckDBEngine, database: str) -> list[str]:
    """The schemas of a database that can be on a search path."""
    return [
        row["schema_name"] for row in engine.known(_SCHEMAS) if row["database_name"] == database
    ]


def details(engine: DuckDBEngine, table: exp.Table) -> TableDetails | None:
    objects = engine.known(_OBJECTS)
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


def _referring(engine: DuckDBEngine, table: exp.Table) -> Iterator[str]:
    """A foreign key stays within its schema, and one within its own table goes with it."""
    for row in engine.known(_CONSTRAINTS):
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


def tables_like(engine: DuckDBEngine, prefix: str, comment: str) -> tuple[exp.Table, ...]:
    return tuple(
        _table(row)
        for row in engine.known(_OBJECTS)
        if not row["is_view"]
        and row["name"].startswith(prefix)
        and row["comment"] == comment
        and row["database_name"] != "temp"
    )


def objects(engine: DuckDBEngine) -> list[tuple[exp.Table, str | None]]:
    """Every table and view by its full name, with the text of a view."""
    return [(_table(row), row["sql"]) for row in engine.known(_OBJECTS)]


@dataclass(frozen=True)
class AttachedFile:
    """The file of a database that is open, and the name of the database here."""

    name: str
    path: Path
    read_only: bool


def files(engine: DuckDBEngine) -> list[AttachedFile]:
    """The files of all databases that a connection has open."""
    return [
        AttachedFile(row["database_name"], Path(row["path"]), row["readonly"])
        for row in engine.known(_FILES)
    ]


def name_of_file(engine: DuckDBEngine, path: Path) -> str:
    """The name under which a file is attached."""
    found = (each for each in files(engine) if each.path.exists() and each.path.samefile(path))
    return next(found).name


def spill_folder(engine: DuckDBEngine) -> str:
    (row,) = engine.known(_SPILL)
    return row["folder"] or ""


def stale_spill_files(databases: Iterable[Path], spill: str) -> tuple[Path, ...]:
    """Spill files beside databases that this process alone has open: it may write to them.

    Those of this process are left alone, because a connection of it may be using them, and so
    is a spill folder that is not the database's own, because others may share it.
    """
    folder = Path(spill)
    if folder not in {Path(f"{path}.tmp") for path in databases} or not folder.is_dir():
        return ()
    matches = [(path, _SPILLED.fullmatch(path.name)) for path in sorted(folder.iterdir())]
    return tuple(path for path, match in matches if match and match[1] != str(os.getpid()))


def _about(engine: DuckDBEngine, query: str, table: exp.Table) -> list[Row]:
    return [
        row
        for row in engine.known(query)
        if same(exp.table_(row["table_name"], row["schema_name"], row["database_name"]), table)
    ]


def _table(row: Row) -> exp.Table:
    return exp.table_(row["name"], row["schema_name"], row["database_name"], quoted=True)


def _key(table: exp.Table) -> tuple[str, str, str]:
    return fold(table.catalog), fold(table.db), fold(table.name)


# Functions by their full names; a comparison is no function, and nothing can hide it.
_HIDING = """
SELECT DISTINCT own.database_name, own.schema_name, own.function_name, own.function_type
FROM system.main.duckdb_functions() AS own
JOIN system.main.duckdb_functions() AS built_in
  ON system.main.lower(own.function_name) = system.main.lower(built_in.function_name)
WHERE NOT own.internal AND built_in.internal
ORDER BY ALL
"""


def hiding(engine: DuckDBEngine) -> list[str]:
    """The statements that drop the functions of users with the name of a built-in one.

    Those of every open database count, whatever the search path is: who reads a view later may
    have another one.
    """
    statements = []
    for row in engine.known(_HIDING):
        kind = "MACRO TABLE" if row["function_type"] == "table_macro" else "MACRO"
        place = (row["function_name"], row["schema_name"], row["database_name"])
        statements.append(f"DROP {kind} {exp.table_(*place, quoted=True).sql('duckdb')}")
    return statements


# Leaves of a plan that read nothing, or what another part of the plan has read.
_NO_SOURCE = {"EMPTY_RESULT", "DUMMY_SCAN", "COLUMN_DATA_SCAN", "CTE_SCAN", "DELIM_SCAN"}
_MACROS = """
SELECT function_name AS name, macro_definition AS sql FROM duckdb_functions()
WHERE NOT internal AND macro_definition IS NOT NULL
"""
# Table functions whose first argument names what they read, and those that read no file.
_READERS = {
    *("read_csv", "read_csv_auto", "sniff_csv", "read_parquet", "parquet_scan"),
    *("read_json", "read_json_auto", "read_json_objects", "read_json_objects_auto"),
    *("read_ndjson", "read_ndjson_auto", "read_ndjson_objects", "read_text", "read_blob"),
}
_HARMLESS = {"range", "generate_series", "unnest", "repeat", "pandas_scan"}
REMOTE = re.compile(r"(?!file:)[a-z][a-z0-9]+://", re.IGNORECASE)
_OWN_DATA = re.compile(r"sqlanon_data_\d+")  # an Arrow table in memory, see register


def reads(engine: DuckDBEngine, relation: exp.Expr) -> Reads:
    """By the plan of a query: views, macros and subqueries are resolved there.

    A part of the query that can yield no row has no place in the plan, but its tables are among
    the named ones.
    """
    select = exp.select("*").from_(relation.copy()).sql("duckdb", identify=True)
    (row,) = engine.fetch(f"EXPLAIN (FORMAT json) {select}").to_pylist()
    tables, only_tables = [], True
    for leaf in _leaves(json.loads(row["explain_value"])):
        name = leaf.get("extra_info", {}).get("Table")
        if name is not None:
            # The plan shows a text of several lines as a list of them.
            text = "\n".join(name) if isinstance(name, list) else name
            tables.append(exp.to_table(text, dialect="duckdb"))
        elif leaf["name"] not in _NO_SOURCE:
            only_tables = False
    unique = {_key(table): table for table in tables}
    return Reads(tuple(unique.values()), only_tables, tuple(_Definitions(engine, relation).named))


def may_read(engine: DuckDBEngine, relation: exp.Expr, file: Path) -> bool | None:
    """By every name and text in the definitions, expanded as DuckDB does; None: unknown."""
    definitions = _Definitions(engine, relation)
    certain = definitions.complete
    databases = [path for path in (each.path for each in engine.files()) if path.exists()]
    if any(path.samefile(file) for path in databases):
        return True
    for tree in definitions.trees:
        for text in tree.find_all(exp.Literal):
            if text.is_string and _matches(engine, text.this, file):
                return True
        for table in tree.find_all(exp.Table):
            if not isinstance(table.this, exp.Identifier):
                certain &= _is_told(table.this, definitions.macros)
                continue
            pattern = ".".join(part.name for part in table.parts)
            if _matches(engine, pattern, file):
                return True
            if table not in definitions.known and not _expand(engine, pattern):
                certain &= bool(REMOTE.match(pattern))
    return False if certain else None


class _Definitions:
    """A relation and the views and macros that it uses, each as a syntax tree.

    complete  whether all of them could be parsed
    named     the tables and views that they name
    known     the places in the trees that name those, or a part of a WITH
    """

    def __init__(self, engine: DuckDBEngine, relation: exp.Expr) -> None:
        self._engine = engine
        self._objects = objects(engine)
        rows = engine.known(_MACROS)
        self.macros: set[str] = {fold(row["name"]) for row in rows}
        self._texts = [(fold(row["name"]), row["sql"]) for row in rows]
        self._seen_macros: set[str] = set()
        self.complete = True
        self.trees: list[exp.Expr] = []
        self.named: list[exp.Table] = []
        self.known: _Nodes = _Nodes()
        # A tree of its own, so that the relation's alias and parents play no part.
        self._follow(exp.select("*").from_(relation.copy()), None)

    def _follow(self, tree: exp.Expr, view: exp.Table | None) -> None:
        self.trees.append(tree)
        for table in list(tree.find_all(exp.Table)):
            if not isinstance(table.this, exp.Identifier):
                continue
            if is_cte(table):
                self.known.add(table)
                continue
            for found, text in self._meant(table, view):
                self.known.add(table)
                if any(same(found, each) for each in self.named):
                    continue
                self.named.append(found)
                own = found.catalog == "temp" and _OWN_DATA.fullmatch(found.name)
                if text is not None and not own:
                    self._parse(text, found)
        words = {fold(word) for word in re.findall(r"\w+", tree.sql("duckdb"))}
        for name, text in self._texts:
            odd = re.fullmatch(r"\w+", name) is None
            if (name in words or odd) and text not in self._seen_macros:
                self._seen_macros.add(text)
                self._parse(text, view)

    def _parse(self, text: str, view: exp.Table | None) -> None:
        try:
            parsed = sqlglot.parse_one(text, dialect="duckdb")
        except (sqlglot.ParseError, sqlglot.TokenError):
            self.complete = False
            return
        tree = parsed.args.get("expression") if isinstance(parsed, exp.Create) else parsed
        if not isinstance(tree, exp.Expr) or isinstance(tree, exp.Command):
            self.complete = False
            return
        self._follow(tree, view)

    def _meant(
        self, table: exp.Table, view: exp.Table | None
    ) -> Iterator[tuple[exp.Table, str | None]]:
        """What a name may mean: by the search path, or beside the view that it is in."""
        found_at = list(places(self._engine, table))
        if view is not None:
            catalog = table.catalog or view.catalog
            schemas = (table.db or view.db, table.db or "main")
            found_at += [exp.table_(table.name, each, catalog, quoted=True) for each in schemas]
        # Of the places on the search path, the first one counts; the others do no harm.
        for found, text in self._objects:
            if any(same(found, place) for place in found_at):
                yield found, text


class _Nodes:
    """A set of places in trees; equal nodes in two places are different here."""

    def __init__(self) -> None:
        self._nodes: dict[int, exp.Expr] = {}

    def add(self, node: exp.Expr) -> None:
        self._nodes[id(node)] = node

    def __contains__(self, node: exp.Expr) -> bool:
        return id(node) in self._nodes


def _is_told(call: exp.Expr, macros: set[str]) -> bool:
    """Whether the text of a table function shows what it reads."""
    if isinstance(call, exp.ReadCSV | exp.ReadParquet):
        name = "read_csv"
    elif isinstance(call, exp.GenerateSeries | exp.Unnest):
        return True
    else:
        name = fold(call.name) if isinstance(call, exp.Anonymous) else ""
    if name in _HARMLESS or name in macros:  # the body of a macro is looked at by itself
        return True
    arguments = [call.this, *call.expressions]
    first = next((each for each in arguments if isinstance(each, exp.Expr)), None)
    if name not in _READERS or first is None:
        return False
    listed = first.expressions if isinstance(first, exp.Array) else [first]
    return all(isinstance(each, exp.Literal) and each.is_string for each in listed)


def _matches(engine: DuckDBEngine, pattern: str, file: Path) -> bool:
    return any(path.exists() and path.samefile(file) for path in _expand(engine, pattern))


def _expand(engine: DuckDBEngine, pattern: str) -> list[Path]:
    """The files that a pattern means to DuckDB; none where it may not look."""
    if not pattern or "\0" in pattern or REMOTE.match(pattern):
        return []
    call = exp.Anonymous(this="glob", expressions=[exp.Literal.string(pattern)])
    try:
        rows = engine.fetch(exp.select("file").from_(exp.Table(this=call))).to_pylist()
    except EngineError as error:
        if isinstance(error.__cause__, duckdb.PermissionException):
            return []
        raise
    return [Path(row["file"]) for row in rows]


def _leaves(nodes: list[Row]) -> Iterator[Row]:
    for node in nodes:
        if node["children"]:
            yield from _leaves(node["children"])
        else:
            yield node
