"""Kills publishes on PostgreSQL at random moments: the client by SIGKILL, or its backend.

    python tests/attacks/kills_postgres.py [--json] [--kills 50] [--seed 1]

Half of the publishes replace their source, every other one of these within the table, to which a
view is bound; the others replace a former release. After every kill the
target holds the former rows or the new ones, all of them, the source is as it was (or replaced
whole), and no staged table is there. A first release, to a table and to a view, is killed before
its commit, and the next publish of the same name works. After a last publish that is not
disturbed, the folder of certificates holds that of the release and nothing else. A loss ends with
exit status 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
import postgres_server
from postgres_server import Database, Server

import sqlanon
from sqlanon.domain import Partition, Scheme
from sqlanon.domain.scheme_json import to_document, write_document
from sqlanon.errors import SqlanonError

ROWS = 20_000
MAKE = (
    "CREATE TABLE people AS SELECT n AS id, 20 + n % 40 AS age, 't' || n % 7 AS town, "
    f"'d' || n % 11 AS ill FROM generate_series(1, {ROWS}) AS s (n)"
)
PLACES = {
    "replace": {"mode": "replace"},
    "table": {"to": "anon"},
    "first": {"to": "first"},
    "first view": {"to": "first_view", "mode": "view"},
}
WORKER = """
import json, os, signal, sys
import sqlanon
from sqlanon.errors import SqlanonError
print("ready", flush=True)
for line in sys.stdin:
    policy, scheme, folder, last = json.loads(line)
    def watch(stage):
        if stage == last:
            os.kill(os.getpid(), signal.SIGKILL)
    try:
        with sqlanon.load(policy) as anonymizer:
            print("begun", flush=True)
            anonymizer.publish(scheme, certificates=folder, on_stage=watch)
        print("done", flush=True)
    except SqlanonError as error:
        print("failed", flush=True)
"""


def policy(database: Database, mode: str) -> dict[str, Any]:
    return {
        "source": {"connection": database.address, "table": "people"},
        "columns": {
            "id": {"role": "identifying"},
            "age": {"role": "quasi"},
            "town": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "one_row_per_person": True,
        "privacy": {"k": 2, "homogeneity": {"accept": "an attack"}},
        "publish": PLACES[mode],
    }


@dataclass
class Field:
    """A database with a source and a former release, and a worker that publishes."""

    database: Database
    folder: Path
    worker: subprocess.Popen[str] | None = None
    losses: list[str] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)

    def prepare(self) -> None:
        self.database.run(MAKE)
        with sqlanon.load(policy(self.database, "table")) as anonymizer:
            columns = anonymizer.space.columns
            for name, cuts in (("one", (9, 19)), ("other", (19,))):
                parts = (Partition(columns[0].size, cuts), columns[1].finest)
                document = to_document(Scheme(columns, parts))
                write_document(document, self.folder / f"{name}.json")
        self.contents = {"raw": self.hash("people")}
        for name in ("one", "other"):
            self.undisturbed(name, "table")
            self.contents[name] = self.hash("anon")

    def undisturbed(self, scheme: str, mode: str) -> None:
        with sqlanon.load(policy(self.database, mode)) as anonymizer:
            anonymizer.publish(self.folder / f"{scheme}.json", certificates=self.folder / "out")

    def hash(self, table: str) -> str:
        """All rows of a table; by the text that PostgreSQL writes for them, not by sqlanon."""
        rows = f"SELECT to_jsonb(t)::text AS r FROM {table} AS t"  # whatever order columns have
        query = f"SELECT md5(string_agg(r, ',' ORDER BY r)) FROM ({rows}) AS s"
        for _ in range(100):
            with suppress(Exception):  # while a server restarts after a crash
                return str(self.database.rows(query)[0][0])
            time.sleep(0.1)
        return "cannot be read"

    def start(self) -> subprocess.Popen[str]:
        if self.worker is None or self.worker.poll() is not None:
            self.end()
            self.worker = subprocess.Popen(
                [sys.executable, "-c", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
            assert self.worker.stdout is not None
            self.worker.stdout.readline()
        return self.worker

    def end(self) -> None:
        """Ends the worker and closes its pipes."""
        if self.worker is not None:
            self.worker.kill()
            with suppress(OSError):  # what was not written yet
                self.worker.communicate()

    def send(self, scheme: str, mode: str, last: str = "") -> subprocess.Popen[str]:
        worker = self.start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        order = [policy(self.database, mode), str(self.folder / f"{scheme}.json")]
        worker.stdin.write(json.dumps([*order, str(self.folder / "out"), last]) + "\n")
        worker.stdin.flush()
        worker.stdout.readline()  # begun
        return worker

    def kill(
        self, victim: str, delay: float, scheme: str, mode: str, *, bound: bool = False
    ) -> None:
        if bound:
            self.database.run("CREATE VIEW seen AS SELECT town FROM people")
        former = "raw" if mode == "replace" else self.now("anon")
        worker = self.send(scheme, mode)
        assert worker.stdout is not None
        time.sleep(delay)
        if victim == "client":
            worker.kill()
            worker.wait()
        else:
            self.end_backends()
        told = worker.stdout.readline().strip()
        self.wait_for_backends()
        found = self.now("people" if mode == "replace" else "anon")
        outcome = "new" if found == scheme else "former"
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        moment = f"{victim} killed after {delay:.3f} s of a {mode} ({told or 'killed'})"
        if found not in (former, scheme):
            self.losses.append(f"{moment}: the target holds {found}")
        if told == "done" and found != scheme:
            self.losses.append(f"{moment}: done, but the target holds {found}")
        if mode == "table" and self.now("people") != "raw":
            self.losses.append(f"{moment}: the source has changed")
        left = "SELECT COUNT(*) FROM pg_class WHERE relname LIKE 'sqlanon%'"
        if self.database.rows(left) != [(0,)]:
            self.losses.append(f"{moment}: a staged table is left")
        if bound:
            moment += " within the table"
            if self.hash("seen") != self.hash("(SELECT town FROM people)"):
                self.losses.append(f"{moment}: the view shows other rows")
            self.database.run("DROP VIEW seen")
        if mode == "replace" and found != "raw":
            self.database.run("DROP TABLE people", MAKE)

    def kill_first(self, mode: str) -> None:
        """A certificate without a table or view: the one is left, the other was rolled back."""
        self.send("one", mode, "committing").wait()
        self.wait_for_backends()
        table = PLACES[mode]["to"]
        if self.database.rows(f"SELECT to_regclass('{table}') IS NULL AS gone") != [(True,)]:
            self.losses.append(f"{table} is there without a commit")
        try:
            self.undisturbed("one", mode)
        except SqlanonError as error:
            self.losses.append(f"after a kill {table} cannot be published: {error}")

    def now(self, table: str) -> str:
        found = self.hash(table)
        known = [name for name, content in self.contents.items() if content == found]
        return known[0] if known else "something else"

    def end_backends(self) -> None:
        with suppress(Exception):
            self.database.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                f"WHERE datname = '{self.database.name}' AND pid <> pg_backend_pid()"
            )

    def wait_for_backends(self) -> None:
        """Until the server has seen that the client is gone, and rolled back."""
        query = (
            "SELECT COUNT(*) FROM pg_stat_activity WHERE state <> 'idle' "
            f"AND datname = '{self.database.name}' AND pid <> pg_backend_pid()"
        )
        for _ in range(300):
            with suppress(Exception):
                if self.database.rows(query) == [(0,)]:
                    return
            time.sleep(0.05)

    def finish(self) -> None:
        """The next run finds nothing that hinders it, and leaves nothing but its own files."""
        self.end()
        # One that a kill left without a file is removed once it is a minute old.
        for left in (self.folder / "out").glob(".sqlanon-*"):
            os.utime(left, (0, 0))
        self.undisturbed("one", "replace")
        self.database.run("DROP TABLE people", MAKE)
        self.undisturbed("one", "table")
        out = self.folder / "out"
        names = sorted(path.name for path in out.iterdir() if path.name.startswith("anon."))
        hidden = [path.name for path in out.iterdir() if path.name.startswith(".")]
        if len(names) != 4 or hidden:
            self.losses.append(f"files of certificates: {names}, left over: {hidden}")
        found = sqlanon.checking.recheck(
            self.database.address, out / "anon.certificate.json", table="anon"
        )
        if not found.holds or self.now("anon") != "one":
            self.losses.append("the last release does not agree with its certificate")


def attack(server: Server, kills: int, seed: int) -> dict[str, Any]:
    """As many kills of a client as of a backend."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        battle = Field(server.new_database(), Path(folder))
        (battle.folder / "out").mkdir()
        battle.prepare()
        worker = battle.send("one", "table")
        start = time.perf_counter()
        assert worker.stdout is not None
        worker.stdout.readline()
        whole = time.perf_counter() - start
        battle.kill_first("first")
        battle.kill_first("first view")
        battle.database.run("DROP TABLE IF EXISTS first", "DROP VIEW IF EXISTS first_view")
        for number in range(2 * kills):
            victim = ("client", "backend")[number % 2]
            mode = ("table", "replace")[number // 2 % 2]
            delay = rng.uniform(0, 1.1) * whole
            bound = mode == "replace" and number // 4 % 2 == 1
            battle.kill(victim, delay, rng.choice(("one", "other")), mode, bound=bound)
        battle.finish()
        server.drop(battle.database)
    return {"kills": 2 * kills, "outcomes": battle.outcomes, "losses": battle.losses}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--kills", type=int, default=50, help="of each, client and backend")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    binaries = postgres_server.find_binaries()
    if binaries is None:
        raise SystemExit("there is no PostgreSQL here")
    server = Server(binaries)
    try:
        found = attack(server, options.kills, options.seed)
    finally:
        server.stop()
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print(f"{found['kills']} kills, {found['outcomes']}, {len(found['losses'])} losses")
        print("\n".join(found["losses"]))
    raise SystemExit(1 if found["losses"] else 0)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[2]))
    main()
