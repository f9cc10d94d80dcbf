"""Runs the templates in sql/audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines import Engine
from sqlanon.render import render


def fetch(
    engine: Engine,
    relation: exp.Expr,
    template: str,
    parameters: Mapping[str, str] | None = None,
    /,
    **cells: object,
) -> pa.Table:
    """The answer to a template that reads one relation; its parameters are secrets."""
    query = render(f"audit/{template}", dialect=engine.dialect, source=relation, **cells)
    return engine.fetch(query, parameters)


def fetch_row(
    engine: Engine,
    relation: exp.Expr,
    template: str,
    parameters: Mapping[str, str] | None = None,
    /,
    **cells: object,
) -> dict[str, Any]:
    """The same where the answer has one row."""
    (row,) = fetch(engine, relation, template, parameters, **cells).to_pylist()
    found: dict[str, Any] = row
    return found
