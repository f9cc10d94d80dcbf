"""Rows of this process put into a table of a database, by statements that every database has."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.protocol import Engine
from sqlanon.render import render_text

ROWS_AT_ONCE = 500
"""Rows of one INSERT: databases bound the length of a statement."""

_INSERT = """\
INSERT INTO {{ table | sql }} VALUES
{% for row in rows %}
  ({% for value in row %}{{ value | literal }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- if not loop.last %},{% endif %}

{% endfor %}"""


def insert_rows(engine: Engine, table: exp.Table, rows: pa.Table) -> None:
    """Appends rows to a table by INSERT statements, for engines without a faster way."""
    for start in range(0, rows.num_rows, ROWS_AT_ONCE):
        batch = rows.slice(start, ROWS_AT_ONCE).to_pydict()
        listed = list(zip(*batch.values(), strict=True))
        engine.run(render_text(_INSERT, dialect=engine.dialect, table=table, rows=listed))
