"""What PostgreSQL's catalog knows: types, where names lead, what hangs on a table, what is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from sqlanon.engines.protocol import (
    Bound,
    ColumnDetails,
    Effect,
    Kind,
    Reads,
    Rebuilt,
    TableDetails,
    is_cte,
)
from sqlanon.errors import EngineError
from sqlanon.render import render, render_text

if TYPE_CHECKING:
    from sqlanon.engines.postgres import PostgresEngine

Row = dict[str, Any]

HERE = """
SELECT
  CAST(pg_catalog.current_database() AS TEXT) AS database,
  CAST(pg_catalog.current_schemas(FALSE) AS TEXT[]) AS path,
  CAST(pg_catalog.current_setting('server_version_num') AS INT) AS number,
  pg_catalog.split_part(pg_catalog.current_setting('server_version'), ' ', 1) AS version
"""
BEGUN = "SELECT CAST(pg_catalog.transaction_timestamp() AS TEXT) AS begun"
ISOLATION = "SELECT pg_catalog.current_setting('transaction_isolation') AS isolation"
HIDING = """
SELECT pg_catalog.format('function %s', CAST(own.oid AS REGPROCEDURE)) AS text
FROM pg_catalog.pg_proc AS own
JOIN pg_catalog.pg_namespace AS n ON n.oid = own.pronamespace
WHERE n.nspname <> 'pg_catalog' AND n.nspname = ANY (pg_catalog.current_schemas(FALSE))
  AND own.proname IN (SELECT b.proname FROM pg_catalog.pg_proc AS b
    WHERE b.pronamespace = CAST('pg_catalog' AS REGNAMESPACE))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.deptype = 'e'
    AND d.classid = CAST('pg_catalog.pg_proc' AS REGCLASS) AND d.objid = own.oid)
UNION ALL
SELECT pg_catalog.format('operator %s', CAST(own.oid AS REGOPERATOR))
FROM pg_catalog.pg_operator AS own
JOIN pg_catalog.pg_namespace AS n ON n.oid = own.oprnamespace
WHERE n.nspname <> 'pg_catalog' AND n.nspname = ANY (pg_catalog.current_schemas(FALSE))
  AND own.oprname IN (SELECT b.oprname FROM pg_catalog.pg_operator AS b
    WHERE b.oprnamespace = CAST('pg_catalog' AS REGNAMESPACE))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d WHERE d.deptype = 'e'
    AND d.classid = CAST('pg_catalog.pg_operator' AS REGCLASS) AND d.objid = own.oid)
ORDER BY 1
"""
_TABLES = """
SELECT CAST(n.nspname AS TEXT) AS schema, CAST(c.relname AS TEXT) AS name
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema'
  AND n.nspname NOT LIKE 'pg\\_%'
ORDER BY 1, 2
"""
_PLACES = """
SELECT CAST(n.nspname AS TEXT) AS schema, n.oid = pg_catalog.pg_my_temp_schema() AS is_temporary
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relname = {{ name | literal }} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
_SCHEMA = """
SELECT 1 AS n FROM pg_catalog.pg_namespace WHERE nspname = {{ name | literal }}
"""
_STAGED = """
SELECT CAST(n.nspname AS TEXT) AS schema, CAST(c.relname AS TEXT) AS name
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND c.relpersistence <> 't'
  AND pg_catalog.starts_with(CAST(c.relname AS TEXT), {{ prefix | literal }})
  AND pg_catalog.obj_description(c.oid, 'pg_class') = {{ comment | literal }}
"""
_TYPES = """
SELECT
  CAST(t.typname AS TEXT) AS name,
  CAST(t.oid AS BIGINT) AS oid,
  pg_catalog.format_type(t.oid, NULL) AS type,
  ARRAY(
    SELECT CAST(e.enumlabel AS TEXT) FROM pg_catalog.pg_enum AS e
    WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder
  ) AS labels
FROM pg_catalog.pg_type AS t
WHERE t.typname IN ({{ names | cells }})
  OR CAST(t.oid AS TEXT) IN ({{ oids | cells }})
ORDER BY CAST(t.typnamespace AS REGNAMESPACE) <> CAST('pg_catalog' AS REGNAMESPACE)
"""
_ROW_PLACES = """
SELECT COUNT(*) AS n, CAST(SUM(pg_catalog.hashtidextended(ctid, 0)) AS TEXT) AS places
FROM ONLY {{ table | sql }}
"""

STATISTICS = ("pg_catalog.pg_statistic", "pg_catalog.pg_statistic_ext_data")
"""Where values of a table are kept for the planner."""
STATISTICS_FILES = """
SELECT
  pg_catalog.pg_relation_filenode('pg_catalog.pg_statistic') AS one,
  pg_catalog.pg_relation_filenode('pg_catalog.pg_statistic_ext_data') AS several
"""

_KINDS = {
    **dict.fromkeys(("SMALLINT", "INTEGER", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("REAL", "DOUBLE PRECISION"), Kind.FLOAT),
    "NUMERIC": Kind.DECIMAL,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"), Kind.TIMESTAMP),
    "DATE": Kind.DATE,
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR", "NAME"), Kind.TEXT),
    # Texts only after a cast: they are compared in ways of their own.
    **dict.fromkeys(("CITEXT", "UUID", "INET", "CIDR", "MACADDR", "MACADDR8"), Kind.TEXT),
}
_NAMES = {
    **{"int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "float4": "REAL"},
    **{"float8": "DOUBLE PRECISION", "numeric": "NUMERIC", "timestamp": "TIMESTAMP"},
    **{"timestamptz": "TIMESTAMP WITH TIME ZONE", "date": "DATE", "bool": "BOOLEAN"},
    **{"text": "TEXT", "varchar": "VARCHAR", "bpchar": "CHAR", "name": "NAME", "uuid": "UUID"},
    **{"inet": "INET", "cidr": "CIDR", "macaddr": "MACADDR", "macaddr8": "MACADDR8"},
    "citext": "CITEXT",
}
_EFFECTS = {"bound": Effect.STAYS, "paused": Effect.PAUSED, "refreshed": Effect.REFRESHED}
_UNNAMED = re.compile(r"unnamed<oid:(\d+)>")
_WIDEST = 76
"""Digits of the widest decimal that Arrow has."""


def kind_of(type_: str) -> Kind | None:
    if type_.startswith("DECIMAL("):
        return Kind.DECIMAL
    return Kind.TEXT if type_.startswith("ENUM(") else _KINDS.get(type_)


def types_of(engine: PostgresEngine, schema: pa.Schema) -> list[tuple[str, str]]:
    """The columns of a result with the names of their types; a domain is the type below it."""
    named = [(field.name, field.metadata or {}) for field in schema]
    types = [(name, about.get(b"POSTGRESQL:type", b"").decode(), about) for name, about in named]
    others = {type_ for _, type_, _ in types if type_ not in _NAMES}
    known = _other_types(engine, others) if others else {}
    return [
        (name, _NAMES[type_] if type_ in _NAMES and not _is_sized(about) else _sized(about))
        if type_ in _NAMES
        else (name, known.get(type_, type_))
        for name, type_, about in types
    ]


def _is_sized(about: dict[bytes, bytes]) -> bool:
    return about.get(b"POSTGRESQL:typmod", b"-1") != b"-1"


def _sized(about: dict[bytes, bytes]) -> str:
    """A NUMERIC with its digits, which the catalog keeps in one number."""
    modifier = int(about[b"POSTGRESQL:typmod"]) - 4
    return f"DECIMAL({(modifier >> 16) & 0xFFFF},{modifier & 0x7FF})"


def _other_types(engine: PostgresEngine, names: Iterable[str]) -> dict[str, str]:
    """Types by the name that the driver has for them; one that it does not know has a number."""
    unnamed = {name: match[1] for name in names if (match := _UNNAMED.fullmatch(name))}
    text = render_text(
        _TYPES,
        dialect="postgres",
        names=[exp.Literal.string(name) for name in sorted(names)],
        oids=[exp.Literal.string(oid) for oid in sorted(unnamed.values()) or [""]],
    )
    found: dict[str, str] = {}
    numbers = {number: name for name, number in unnamed.items()}
    for row in engine.known(text):
        name: str = numbers.get(str(row["oid"])) or row["name"]
        found.setdefault(name, _type_name(row))
    return found


def _type_name(row: Row) -> str:
    if row["labels"]:
        listed = ", ".join(exp.Literal.string(label).sql("postgres") for label in row["labels"])
        return f"ENUM({listed})"
    type_: str = row["type"]
    return _NAMES.get(row["name"], type_)


def with_decimals(table: pa.Table) -> pa.Table:
    """The columns of NUMERIC as decimals; those with NaN or infinity stay texts."""
    for place, field in enumerate(table.schema):
        about = field.metadata or {}
        if about.get(b"POSTGRESQL:type") == b"numeric":
            column = table.column(place).cast(pa.string())
            table = table.set_column(place, field.name, _decimals(column))
    return table


def _decimals(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    fractions = pc.replace_substring_regex(texts, pattern=r"^[^.]*\.?", replacement="")
    digits = pc.max(pc.utf8_length(texts)).as_py() or 1
    scale = pc.max(pc.utf8_length(fractions)).as_py() or 0
    make = pa.decimal128 if digits <= 38 else pa.decimal256
    try:
        return texts.cast(make(38 if digits <= 38 else _WIDEST, scale))
    except (pa.ArrowInvalid, ValueError):
        return texts


def setting(name: str, value: str) -> str:
    template = "SELECT pg_catalog.set_config({{ name | literal }}, {{ value | literal }}, FALSE)"
    return render_text(template, dialect="postgres", name=name, value=value)


def settings(names: Iterable[str]) -> str:
    one = "pg_catalog.current_setting({{ name | literal }}) AS {{ name | identifier }}"
    parts = [render_text(one, dialect="postgres", name=name) for name in names]
    return f"SELECT {', '.join(parts)}"


def listed(path: Iterable[str]) -> str:
    """The schemas of a search path as a setting writes them."""
    return ", ".join(exp.to_identifier(each, quoted=True).sql("postgres") for each in path)


def regclass(table: exp.Table) -> str:
    """The full name of a table as the functions of the catalog take it."""
    return table.sql("postgres", identify=True)


def holding(table: exp.Table) -> str:
    """Lists what still sees the rows that the last change of a table replaced."""
    name = regclass(table)
    return render("engines/postgres/holding.sql", dialect="postgres", relation=name)


def statistics(table: exp.Expr) -> str:
    """Estimates the rows of a table and the different values of each column."""
    name = table.sql("postgres", identify=True)
    return render("engines/postgres/statistics.sql", dialect="postgres", relation=name)


def row_places(table: exp.Table) -> str:
    """Counts the row versions of a table, and adds up a hash of their places."""
    return render_text(_ROW_PLACES, dialect="postgres", table=table)


def spelled_tables(engine: PostgresEngine) -> list[str]:
    found = []
    for row in engine.known(_TABLES):
        parts = [row["name"]] if row["schema"] in engine.path else [row["schema"], row["name"]]
        found.append(".".join(exp.to_identifier(part).sql("duckdb") for part in parts))
    return found


def locate(engine: PostgresEngine, table: exp.Table, *, to_create: bool = False) -> exp.Table:
    """The full name of a table: found on the search path of the role, else at its start."""
    if table.catalog and table.catalog != engine.database:
        raise EngineError(
            f"The table {table.name!r} is said to be in the database {table.catalog!r}, and the "
            f"connection leads to {engine.database!r}. Give the address of that one."
        )
    if table.db.startswith("pg_temp"):
        return table
    if table.db:
        if not engine.known(render_text(_SCHEMA, dialect="postgres", name=table.db)):
            schema = exp.to_identifier(table.db, quoted=True).sql("postgres")
            raise EngineError(
                f"There is no schema {table.db!r} for the table {table.name!r}. Make it with "
                f"CREATE SCHEMA {schema}, or name a schema that exists."
            )
        return exp.table_(table.name, table.db, engine.database, quoted=True)
    found = engine.known(render_text(_PLACES, dialect="postgres", name=table.name))
    if any(row["is_temporary"] for row in found) and not to_create:
        return exp.table_(table.name, "pg_temp", quoted=True)
    schemas = {row["schema"] for row in found}
    place = next((each for each in [*engine.path, "pg_catalog"] if each in schemas), None)
    place = place or next(iter(engine.path), None)
    if place is None:
        raise EngineError(
            f"The role has no schema on its search_path, so {table.name!r} may be anywhere. Write "
            "schema.table."
        )
    return exp.table_(table.name, place, engine.database, quoted=True)


def completed(engine: PostgresEngine, query: exp.Query) -> exp.Query:
    """A query with full names for its tables, and lower case for names without quotes."""
    whole: exp.Query = normalize_identifiers(query.copy(), dialect="postgres")
    for table in list(whole.find_all(exp.Table)):
        if isinstance(table.this, exp.Identifier) and not is_cte(table):
            found = locate(engine, _bare(table))
            for part in ("db", "catalog"):
                name = found.args.get(part)
                table.set(part, None if name is None else name.copy())
    return whole


def strict_columns(engine: PostgresEngine, table: exp.Expr) -> set[str]:
    """The columns that cannot be NULL."""
    assert isinstance(table, exp.Table)
    return {row["name"] for row in _columns(engine, table) if row["is_strict"]}


def _columns(engine: PostgresEngine, table: exp.Table) -> list[Row]:
    text = render("engines/postgres/columns.sql", dialect="postgres", relation=regclass(table))
    return engine.known(text)


def details(engine: PostgresEngine, table: exp.Table) -> TableDetails | None:
    name = regclass(table)
    found = engine.known(render("engines/postgres/table.sql", dialect="postgres", relation=name))
    if not found:
        return None
    (row,) = found
    types = {info.name: info.type for info in engine.columns(table)}
    columns = tuple(
        ColumnDetails(
            name=each["name"],
            type=types[each["name"]],
            nullable=not each["is_strict"],
            comment=each["comment"],
            default="an identity" if each["is_identity"] else each["default"],
            is_generated=each["is_generated"],
        )
        for each in _columns(engine, table)
    )
    parts = engine.known(render("engines/postgres/parts.sql", dialect="postgres", relation=name))
    rebuilt = tuple(
        Rebuilt(each["sql"], frozenset(each["columns"] or ()), each["text"])
        for each in parts
        if each["sql"] is not None and each["kind"] not in ("before", "after")
    )

    def texts(kind: str) -> tuple[str, ...]:
        return tuple(each["text"] for each in parts if each["kind"] == kind)

    kinds = {"p": "its partitions", "f": "its foreign server"}
    own = (Bound(kinds[row["kind"]], None),) if row["kind"] in kinds else ()
    bound = tuple(
        Bound(each["text"], _names(each["columns"]), _EFFECTS[each["kind"]])
        for each in parts
        if each["kind"] in _EFFECTS
    )
    needs = {
        each["text"]: names
        for each in parts
        if each["kind"] in ("constraint", "index", "statistics")
        and (names := _names(each["columns"])) is not None
    }
    return TableDetails(
        table=table,
        is_view=row["kind"] in ("v", "m"),
        comment=row["comment"],
        columns=columns,
        constraints=texts("constraint"),
        indexes=texts("index"),
        statistics=texts("statistics"),
        needs=needs,
        referenced_by=texts("reference"),
        bound=(*own, *bound),
        rebuilt=rebuilt,
        before=tuple(each["sql"] for each in parts if each["kind"] == "before"),
        after=tuple(each["sql"] for each in parts if each["kind"] == "after"),
    )


def _names(columns: Iterable[str] | None) -> frozenset[str] | None:
    return None if columns is None else frozenset(columns)


def tables_like(engine: PostgresEngine, prefix: str, comment: str) -> tuple[exp.Table, ...]:
    text = render_text(_STAGED, dialect="postgres", prefix=prefix, comment=comment)
    return tuple(_table(engine, row) for row in engine.known(text))


def reads(engine: PostgresEngine, relation: exp.Expr) -> Reads:
    """By the names in the relation, and for views by what the catalog says they depend on."""
    inside = [each for each in relation.find_all(exp.Table) if not is_cte(each)]
    plain = [each for each in inside if isinstance(each.this, exp.Identifier)]
    if not plain:
        return Reads((), only_tables=not inside)
    names = [exp.Literal.string(regclass(locate(engine, each))) for each in map(_bare, plain)]
    text = render(
        "engines/postgres/read_by_views.sql",
        dialect="postgres",
        names=exp.Array(expressions=names),
    )
    rows = engine.known(text)
    tables = [_table(engine, row) for row in rows if row["kind"] != "v"]
    everything = [_table(engine, row) for row in rows]
    return Reads(tuple(tables), len(plain) == len(inside), tuple(everything))


def _bare(table: exp.Table) -> exp.Table:
    return exp.table_(table.name, table.db or None, table.catalog or None, quoted=True)


def _table(engine: PostgresEngine, row: Row) -> exp.Table:
    if row.get("is_temporary"):
        return exp.table_(row["name"], "pg_temp", quoted=True)
    return exp.table_(row["name"], row["schema"], engine.database, quoted=True)
