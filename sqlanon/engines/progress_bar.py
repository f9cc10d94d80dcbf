"""DuckDB's own progress bar, which sqlanon hides: it has one of its own.

DuckDB draws its bar on standard output, also where that is a file of JSON, and in a notebook
below the cell.
"""

from __future__ import annotations

import duckdb


def hide_progress_bar(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Turns the bar of a connection of our own off, and returns the connection.

    The setting is read first: in a notebook without ipywidgets the bar is off, and DuckDB
    refuses every statement that sets it, to whatever value.
    """
    shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    return connection
