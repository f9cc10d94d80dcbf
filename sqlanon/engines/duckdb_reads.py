"""What a relation reads in DuckDB: tables, views and files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from sqlanon.engines import duckdb_catalog
from sqlanon.engines.base import Engine, Reads
from sqlanon.engines.duckdb_catalog import fold, same
from sqlanon.errors import EngineError

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

Row = dict[str, Any]


def reads(engine: Engine, relation: exp.Expr) -> Reads:
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


def may_read(engine: Engine, relation: exp.Expr, file: Path) -> bool | None:
    """By every name and text in the definitions, expanded as DuckDB does; None: unknown."""
    definitions = _Definitions(engine, relation)
    certain = definitions.complete
    databases = [path for path in duckdb_catalog.all_files(engine) if path.exists()]
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

    def __init__(self, engine: Engine, relation: exp.Expr) -> None:
        self._engine = engine
        self._objects = duckdb_catalog.objects(engine)
        rows = engine.fetch(_MACROS).to_pylist()
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
            if _is_cte(table):
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
        places = list(duckdb_catalog.places(self._engine, table))
        if view is not None:
            catalog = table.catalog or view.catalog
            schemas = (table.db or view.db, table.db or "main")
            places += [exp.table_(table.name, each, catalog, quoted=True) for each in schemas]
        # Of the places on the search path, the first one counts; the others do no harm.
        for found, text in self._objects:
            if any(same(found, place) for place in places):
                yield found, text


class _Nodes:
    """A set of places in trees; equal nodes in two places are different here."""

    def __init__(self) -> None:
        self._nodes: dict[int, exp.Expr] = {}

    def add(self, node: exp.Expr) -> None:
        self._nodes[id(node)] = node

    def __contains__(self, node: exp.Expr) -> bool:
        return id(node) in self._nodes


def _is_cte(table: exp.Table) -> bool:
    """Whether a name means a part of a WITH: one that stands before the place of the name."""
    if table.db:
        return False
    node: exp.Expr = table
    inside: exp.Expr | None = None
    while node.parent is not None:
        node = node.parent
        if isinstance(node, exp.CTE):
            inside = node
            continue
        parts = node.args.get("with_")
        if not isinstance(parts, exp.With):
            continue
        for part in parts.expressions:
            if part is inside and not parts.recursive:
                break
            if fold(part.alias) == fold(table.name):
                return True
            if part is inside:
                break
    return False


def _is_told(call: exp.Expr, macros: set[str]) -> bool:
    """Whether the text of a table function tells what it reads."""
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


def _matches(engine: Engine, pattern: str, file: Path) -> bool:
    return any(path.exists() and path.samefile(file) for path in _expand(engine, pattern))


def _expand(engine: Engine, pattern: str) -> list[Path]:
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


def _key(table: exp.Table) -> tuple[str, str, str]:
    return fold(table.catalog), fold(table.db), fold(table.name)
