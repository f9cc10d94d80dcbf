"""Running `sqlanon` in tests: in this process, or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


Run = Callable[..., Done]


def process(cwd: Path, *arguments: str, **environment: str) -> Done:
    """The command in a process of its own, for what concerns streams and logging."""
    done = subprocess.run(
        [sys.executable, "-m", "sqlanon", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def message(status: int, done: Done) -> str:
    """What a command says that must fail: nothing else is printed."""
    assert (done.status, done.out) == (status, ""), done.err
    return done.err.removesuffix("\n")
