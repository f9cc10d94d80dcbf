"""Fixtures that several test modules share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import postgres_server
import pytest
from command_line import Done, Run

from sqlanon.cli.command import main


@pytest.fixture(scope="session")
def server() -> Iterator[postgres_server.Server]:
    """A PostgreSQL server of this run of the tests, or of a worker of it."""
    found = postgres_server.start()
    yield found
    found.stop()


@pytest.fixture
def postgres(server: postgres_server.Server) -> Iterator[postgres_server.Database]:
    """An empty PostgreSQL database."""
    database = server.new_database()
    yield database
    server.drop(database)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in the folder of the test, its output not a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["sqlanon", *arguments])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    return command
