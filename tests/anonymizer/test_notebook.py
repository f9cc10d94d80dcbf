"""Searches in a real kernel, as a notebook starts it, with and without ipywidgets.

Without ipywidgets DuckDB refuses every statement that sets its progress bar.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from search_table import write_search_folder

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

BLOCK = "import sys\nsys.modules['ipywidgets'] = None"
SEARCH = """
import sqlanon

with sqlanon.load("policy.yml", workspace="w.duckdb") as anonymizer:
    result = anonymizer.search()
    solution = anonymizer.measure(result)
    release = anonymizer.publish(result)
"""


@pytest.mark.parametrize("widgets", [True, False])
def test_a_search_in_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, widgets: bool
) -> None:
    write_search_folder(
        tmp_path, {"method": "nsga2", "evaluations": 2_000}, publish={"file": "out.parquet"}
    )
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    sources = [*([] if widgets else [BLOCK]), SEARCH, "solution", "print(repr(release))"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in sources])
    client = nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()  # raises what a cell raises
    *_, searched, shown, printed = [cell.outputs for cell in book.cells]
    assert searched == [], "nothing is drawn below the cell"
    (displayed,) = shown
    assert "<table>" in displayed["data"]["text/html"]
    assert len(displayed["data"]["text/plain"]) < 400
    assert "out.parquet" in text_of(printed)


def text_of(outputs: list[Any]) -> str:
    return "".join(each.get("text", "") for each in outputs)
