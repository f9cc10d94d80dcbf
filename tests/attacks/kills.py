"""SIGKILL at random moments of a publish, with a former release present: nothing is lost.

    python tests/attacks/kills.py --kills 300 --seed 1 --json

Half of the kills come at a moment drawn uniformly over the time that a publish takes, half right
before, in and after the swap. After each of them

- the source is as it was; of `replace` the table holds wholly the old or wholly the new rows;
- the release is wholly the former or wholly the new one, and everything else in the database is
  as it was;
- the certificate is that of the release, at once or after `sqlanon clean`, which finishes one that
  the killed process had prepared;
- the next run succeeds and leaves nothing behind of the killed one.

Exit status 1 where any of that does not hold.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import duckdb

import sqlanon

ROWS = 20_000
DATABASE = "ware-house.duckdb"
PUBLISH = {
    "table": "{to: people_anon}",
    "replace": "{mode: replace}",
    "view": "{mode: view, to: people_view}",
    "csv": "{file: people.csv}",
    "parquet": "{file: people.parquet}",
}
MODES = tuple(PUBLISH)
TARGET = {"table": "people_anon", "replace": "people", "view": "people_view",
          "csv": "people.csv", "parquet": "people.parquet"}  # fmt: skip
BEGIN = "preparing"
AROUND_THE_SWAP = ("certifying", "reading back", "swapping", "committing", "published")
POLICY = """\
source: {{connection: "duckdb:///{database}", table: people}}
columns:
  name:    {{role: identifying}}
  age:     {{role: quasi, range: [0, 100], granularity: 5}}
  zip:     {{role: quasi, hierarchy: {{mask: {{}}}}}}
  disease: {{role: sensitive}}
one_row_per_person: true
privacy: {{k: 5, l_diversity: {{l: 2}}}}
publish: {publish}
"""
FORMER = {"age": {"cuts": []}, "zip": {"level": 5}}
NEXT = {"age": {"cuts": [20, 60]}, "zip": {"level": 4}}


def publish(folder: str, scheme: str, tell: Callable[[str], None] | None = None) -> int:
    """Publishes, saying how far it is; the exit status that the command line would have."""
    try:
        with sqlanon.load(Path(folder) / "policy.yml") as anonymizer:
            anonymizer.publish(f"{folder}/{scheme}", on_stage=tell)
    except sqlanon.SqlanonError as error:
        return error.exit_status
    return 0


def victim(folder: str, pipe: Connection) -> None:
    """What the process runs that is killed."""
    status = publish(folder, "scheme.json", pipe.send)
    pipe.send("done")
    sys.exit(status)


def clean(folder: Path) -> int:
    """`sqlanon clean` of the folder and the database."""
    command = [sys.executable, "-m", "sqlanon", "clean", "--quiet", ".", DATABASE]
    return subprocess.run(command, cwd=folder, check=False).returncode


@dataclass(frozen=True)
class Moment:
    """When a process is killed: some seconds after it says that it is at a stage."""

    stage: str
    seconds: float


class Field:
    """A folder in which one mode is published, and the states it may be in."""

    def __init__(self, mode: str, root: Path, kept: Path) -> None:
        self.mode = mode
        self.folder, self.kept = root / mode, kept / f"{mode}-kept"
        self.context = multiprocessing.get_context("spawn")
        self.folder.mkdir()
        self._prepare()
        shutil.copytree(self.folder, self.kept)
        self.former = self.state()
        self.former_files = self.certificates()
        self.stages = self._measure()
        self.new = self.state()
        assert self.former[TARGET[mode]] != self.new[TARGET[mode]]
        self.new_hash = self._certified()
        self.names = self.listed()

    def _prepare(self) -> None:
        with duckdb.connect(self.folder / DATABASE) as connection:
            connection.sql(f"""
                CREATE TABLE people AS
                SELECT 'Name ' || i AS name, CAST(hash(i) % 100 AS INTEGER) AS age,
                  CAST(10000 + 37 * (hash(i, 1) % 300) AS VARCHAR) AS zip,
                  ['flu', 'cold', 'it''s', NULL][CAST(1 + hash(i, 2) % 4 AS INTEGER)] AS disease
                FROM range({ROWS}) t (i)""")
            connection.sql("CREATE TABLE canary AS SELECT 42 AS answer")
        for name, columns in (("former.json", FORMER), ("scheme.json", NEXT)):
            (self.folder / name).write_text(json.dumps({"columns": columns}))
        former = "table" if self.mode == "replace" else self.mode
        self._write_policy(former)
        assert publish(str(self.folder), "former.json") == 0
        self._write_policy(self.mode)

    def _write_policy(self, mode: str) -> None:
        text = POLICY.format(database=DATABASE, publish=PUBLISH[mode])
        (self.folder / "policy.yml").write_text(text)

    def _measure(self) -> dict[str, float]:
        """When each stage begins, in seconds after the first."""
        process, here = self._start()
        stages: dict[str, float] = {}
        try:
            while True:
                stages.setdefault(here.recv(), time.perf_counter())
        except EOFError:
            process.join()
        assert process.exitcode == 0
        return {name: at - stages[BEGIN] for name, at in stages.items()}

    def restore(self) -> None:
        """Puts everything back; the folder keeps its path, which certificates name."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder)

    def _start(self) -> tuple[SpawnProcess, Connection]:
        here, there = self.context.Pipe(duplex=False)
        process = self.context.Process(target=victim, args=(str(self.folder), there))
        process.start()
        there.close()
        return process, here

    def kill(self, moment: Moment) -> bool:
        """Publishes and kills; whether the process was still there to be killed."""
        process, here = self._start()
        try:
            while here.recv() != moment.stage:
                pass
            time.sleep(moment.seconds)
        except EOFError:
            pass
        process.kill()
        process.join()
        here.close()
        return process.exitcode == -signal.SIGKILL

    def moment(self, rng: random.Random) -> Moment:
        if rng.random() < 0.5:
            return Moment(BEGIN, rng.uniform(0, self.stages["done"]))
        stage = rng.choice([stage for stage in AROUND_THE_SWAP if stage in self.stages])
        return Moment(stage, rng.uniform(0, self.stages["done"] - self.stages[stage]))

    # What is there

    def state(self) -> dict[str, Any]:
        """Every table, view and released file, by its whole content."""
        found: dict[str, Any] = {}
        with duckdb.connect(self.folder / DATABASE, read_only=True) as connection:
            names = connection.sql(
                "SELECT table_name FROM duckdb_tables() UNION ALL "
                "SELECT view_name FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
            for (name,) in sorted(names):
                columns = connection.sql(f"DESCRIBE {name}").fetchall()
                content = f"SELECT COUNT(*), SUM(hash(t)), BIT_XOR(hash(t)) FROM {name} AS t"
                found[name] = (columns, connection.sql(content).fetchall())
        for path in (self.folder / "people.csv", self.folder / "people.parquet"):
            if path.exists():
                found[path.name] = self._rows_of(path)
        return found

    def _rows_of(self, path: Path) -> Any:
        """Parquet files of two runs differ in what they say about themselves."""
        if path.suffix == ".csv":
            return path.read_bytes()
        with duckdb.connect() as connection:
            return connection.sql(f"FROM '{path}'").fetchall()

    @property
    def stem(self) -> str:
        return TARGET[self.mode]

    def certificates(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.folder.glob(f"{self.stem}.*"))
                if ".certificate." in path.name or ".shareable." in path.name}  # fmt: skip

    def _certified(self) -> str | None:
        """The hash of the table that the four files of the certificate are about."""
        files = self.certificates()
        if len(files) != 4:
            return None
        documents = [json.loads(text) for name, text in files.items() if name.endswith(".json")]
        releases = [document["release"] for document in documents]
        if len({(each["id"], each["hash"]) for each in releases}) != 1:
            return None
        pages = [text for name, text in files.items() if name.endswith(".html")]
        if any(releases[0]["id"].encode() not in page for page in pages):
            return None
        return str(releases[0]["hash"])

    def listed(self) -> list[str]:
        """The files, but for DuckDB's log: it stays until the database is opened for writing."""
        return sorted(path.name for path in self.folder.iterdir() if path.suffix != ".wal")

    # What must hold

    def losses(self, counts: Counter[str]) -> list[str]:
        """What a kill has cost; empty where nothing is lost."""
        is_new, lost = self.content_losses()
        counts["new" if is_new else "former"] += 1
        lost += self._certificate_losses(is_new, counts)
        return lost + self.next_run_losses(is_new)

    def content_losses(self) -> tuple[bool, list[str]]:
        """Whether the new release is there, and what is neither as before nor as it should be."""
        state, target = self.state(), TARGET[self.mode]
        others = [name for name in {*state, *self.former} if name != target]
        lost = [
            f"{name} is not as it was"
            for name in sorted(others)
            if state.get(name) != self.former.get(name)
        ]
        is_new = state.get(target) == self.new[target]
        if not is_new and state.get(target) != self.former[target]:
            lost.append(f"{target} is neither the former nor the new one")
        return is_new, lost

    def _certificate_losses(self, is_new: bool, counts: Counter[str]) -> list[str]:
        if not is_new:
            unchanged = self.certificates() == self.former_files
            return [] if unchanged else ["the certificate is not that of the former release"]
        if self._certified() == self.new_hash:
            return []
        counts["certificates finished by clean"] += 1
        if clean(self.folder) != 0:
            return ["sqlanon clean fails"]
        whole = self._certified() == self.new_hash
        return [] if whole else ["the certificate of the new release is lost"]

    def next_run_losses(self, is_new: bool) -> list[str]:
        lost = []
        for folder in self.folder.glob(".sqlanon-*"):  # a young one counts as alive
            os.utime(folder, (0, 0))
        status = publish(str(self.folder), "scheme.json")
        if self.mode == "replace" and is_new:
            if status not in (1, 4):  # the original rows are gone, which is said
                lost.append(f"the next run ends with {status}")
        elif status != 0:
            lost.append(f"the next run ends with {status}")
        if self.state() != self.new:
            lost.append("the next run does not make the new release")
        if self._certified() != self.new_hash:
            lost.append("the next run does not leave the certificate of its release")
        if (names := self.listed()) != self.names:
            lost.append(f"left behind or missing: {sorted({*names} ^ {*self.names})}")
        return lost


def run(kills: int, seed: int) -> dict[str, Any]:
    """Kills so many times, and what came of it as a document."""
    rng = random.Random(seed)
    counts = {mode: Counter[str]() for mode in MODES}
    losses: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as root:
        fields = {mode: Field(mode, Path(root), Path(root)) for mode in MODES}
        done = missed = 0
        while done < kills and missed < 5 * kills + 20:
            field = fields[MODES[done % len(MODES)]]
            moment = field.moment(rng)
            field.restore()
            if not field.kill(moment):
                missed += 1
                continue
            done += 1
            counts[field.mode]["kills"] += 1
            counts[field.mode]["around the swap"] += moment.stage != BEGIN
            losses += [
                {"mode": field.mode, "stage": moment.stage, "seconds": moment.seconds, "text": text}
                for text in field.losses(counts[field.mode])
            ]
    return {
        "kills": done,
        "seed": seed,
        "finished_before_the_kill": missed,
        "modes": {mode: dict(counts[mode]) for mode in MODES},
        "losses": losses,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    document = run(options.kills, options.seed)
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        for mode, figures in document["modes"].items():
            print(mode, figures)
        for loss in document["losses"]:
            print(loss)
        print(f"{document['kills']} kills, {len(document['losses'])} losses")
    return 1 if document["losses"] or document["kills"] < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
