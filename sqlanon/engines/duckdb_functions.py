"""Functions of a DuckDB database that hide built-in ones.

DuckDB looks for a function or operator along the search path, and in the database of a view,
before it looks among its own: `CREATE MACRO sha256(x) AS x` changes what sqlanon's SQL means.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.base import Engine

# Functions by their full names; a comparison is no function, and nothing can hide it.
_HIDING = """
SELECT DISTINCT own.database_name, own.schema_name, own.function_name, own.function_type
FROM system.main.duckdb_functions() AS own
JOIN system.main.duckdb_functions() AS built_in
  ON system.main.lower(own.function_name) = system.main.lower(built_in.function_name)
WHERE NOT own.internal AND built_in.internal
ORDER BY ALL
"""


def hiding(engine: Engine) -> list[str]:
    """The statements that drop the functions of users with the name of a built-in one.

    Those of every open database count, whatever the search path is: who reads a view later may
    have another one.
    """
    statements = []
    for row in engine.fetch(_HIDING).to_pylist():
        kind = "MACRO TABLE" if row["function_type"] == "table_macro" else "MACRO"
        place = (row["function_name"], row["schema_name"], row["database_name"])
        statements.append(f"DROP {kind} {exp.table_(*place, quoted=True).sql('duckdb')}")
    return statements
