"""The command before it is there: Ctrl-C while its modules are imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_an_interrupt_while_modules_are_imported(tmp_path: Path) -> None:
    code = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "duckdb":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from sqlanon.cli import main

main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")
