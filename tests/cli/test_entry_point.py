"""What the command imports, and Ctrl-C while it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"duckdb", "jinja2", "moocore", "numpy", "pandas", "pyarrow", "pydantic", "rich", "sqlglot"}
PROGRAM = """
import os, sys
from sqlanon.cli import main

def end(status, end=os._exit):
    print(*sys.modules, file=sys.stderr, flush=True)
    end(status)

os._exit = end
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        "--version",
        "--help",
        "choose --help",
        "clean --help",
        "evaluations --help",
        "measure --help",
        "publish --help",
        "schema --help",
        "sql --help",
        "utility --help",
        "mesure",
    ],
)
def test_what_needs_no_data_imports_nothing_heavy(tmp_path: Path, arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments.split()],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == (2 if arguments == "mesure" else 0)
    imported = set(done.stderr.splitlines()[-1].split())
    assert "sqlanon.cli.command" in imported
    assert not imported & HEAVY


@pytest.mark.parametrize("module", ["click", "sqlanon.cli.measure", "duckdb"])
def test_an_interrupt_while_modules_are_imported(tmp_path: Path, module: str) -> None:
    code = f"""
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from sqlanon.cli import main

sys.argv = ["sqlanon", "measure", "policy.yml", "--scheme", "scheme.json"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "stopped")
