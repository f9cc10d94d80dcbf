"""Random tables with random policies: search, publish, and recount what was released.

    python tests/attacks/fuzz.py --tables 2000 --seed 1 [--trees] --json

Each table is published through the public interface, read back, and recounted by an oracle that
imports nothing of sqlanon (tests/reference/release_oracle.py). Exit status 1 where a release
violates its policy, a label is not true of its rows, rows do not add up, the source changed, or
anything but an error of sqlanon's own was raised.

The control recounts the same releases with every bound tightened by `--tighten`: each model must
then be seen violated, or the oracle would see nothing.

With `--trees` every search is for a cut tree (recoding multidimensional) with region, snapped or
tight labels, with policies changed where they ask for what that refuses: views, top labels and
populations.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import oracle_path  # noqa: F401
import pyarrow as pa
import pyarrow.parquet as pq
from fuzz_cases import Drawn, draw
from release_oracle import Evidence, Recount, Row, Violation, atom, tightened, violations

import sqlanon
from sqlanon.errors import VerificationError

TABLE, TARGET, POPULATION = '"a ""table""; --"', '"it\'s ""out"""', '"everybody"'
MODELS = (
    "k", "k_map", "l distinct", "l entropy", "l recursive", "t equal", "t ordered",
    "t hierarchical", "beta", "delta", "alpha",
)  # fmt: skip
"""What the control must see violated: every model with every kind and distance."""


@dataclass
class Outcome:
    """What happened to one table."""

    seed: int
    refused: str | None = None
    violations: list[Violation] = field(default_factory=list)
    checked: set[str] = field(default_factory=set)
    control: set[str] = field(default_factory=set)
    left_out: int = 0


class Place:
    """Where the source of a case is and where its release goes."""

    def __init__(self, drawn: Drawn, folder: Path) -> None:
        self.drawn, self.folder = drawn, folder
        self.connection: duckdb.DuckDBPyConnection | None = None
        self.file = folder / "the database.duckdb"
        drawn.write_trees(folder)
        self.policy: dict[str, Any] = dict(drawn.policy)
        self.keywords: dict[str, Any] = {"workers": 1}
        self.release = folder / f"it's out.{drawn.mode}"
        self._source([row for n, row in enumerate(drawn.rows) if n not in drawn.later])
        self.policy["publish"] = {**drawn.policy["publish"], **self._target()}

    def _source(self, rows: list[Row]) -> None:
        drawn = self.drawn
        table = drawn.table(rows)
        if drawn.place == "data":
            self.keywords["data"] = table
        elif drawn.place == "parquet":
            pq.write_table(table, self.folder / "source.parquet")
            self.policy["source"] = {"file": str(self.folder / "source.parquet")}
        else:
            self.policy["source"] = {"table": TABLE}
            if drawn.place == "connection":
                self.connection = self.keywords["connection"] = duckdb.connect()
            else:
                self.policy["source"]["connection"] = f"duckdb:///{self.file}"
            with self.opened() as connection:
                connection.register("incoming", table)
                connection.execute(f"CREATE TABLE {TABLE} AS FROM incoming")
                connection.unregister("incoming")
        if drawn.population:
            self._population()

    def _population(self) -> None:
        drawn = self.drawn
        types = {name: drawn.types[name] for name in drawn.population[0]}
        everybody = replace(drawn, types=types).table(drawn.population)
        if drawn.place in ("connection", "database"):
            self.policy["population"] = {"table": POPULATION}
            with self.opened() as connection:
                connection.register("incoming", everybody)
                connection.execute(f"CREATE TABLE {POPULATION} AS FROM incoming")
                connection.unregister("incoming")
        else:
            pq.write_table(everybody, self.folder / "population.parquet")
            self.policy["population"] = {"file": str(self.folder / "population.parquet")}

    def _target(self) -> dict[str, Any]:
        mode, place = self.drawn.mode, self.drawn.place
        if mode in ("csv", "parquet"):
            return {"file": str(self.release)}
        if mode == "replace":
            return {"mode": "replace"}
        if place == "data":
            return {}
        if mode == "elsewhere":
            return {"to": TARGET, "connection": f"duckdb:///{self.folder}/other.duckdb"}
        return {"to": TARGET, "mode": "view" if mode == "view" else "table"}

    @contextlib.contextmanager
    def opened(self, file: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        if self.connection is not None and file is None:
            yield self.connection
        else:
            with duckdb.connect(file or self.file) as connection:
                yield connection

    def source_rows(self) -> list[Row]:
        if self.drawn.place == "data":
            return _listed(self.keywords["data"])
        if self.drawn.place == "parquet":
            return _listed(pq.read_table(self.folder / "source.parquet"))
        return self._rows(TABLE)

    def _rows(self, table: str, file: Path | None = None) -> list[Row]:
        with self.opened(file) as connection:
            return _listed(connection.sql(f"SELECT * FROM {table}").to_arrow_table())

    def released_rows(self, release: sqlanon.Release) -> list[Row]:
        target = self.policy["publish"]
        if "file" in target:
            path = str(self.release).replace("'", "''")
            read = f"read_csv('{path}', all_varchar = true, header = true, delim = ',', \
                     allow_quoted_nulls = false)"
            with duckdb.connect() as connection:
                source = read if self.drawn.mode == "csv" else f"read_parquet('{path}')"
                return _listed(connection.sql(f"FROM {source}").to_arrow_table())
        if target.get("mode") == "replace":
            return self._rows(TABLE)
        if "to" not in target:
            return _listed(release.to_arrow())
        other = self.folder / "other.duckdb" if "connection" in target else None
        return self._rows(TARGET, other)

    def change(self, add: list[Row], remove: list[int]) -> None:
        with self.opened() as connection:
            if add:
                connection.register("incoming", self.drawn.table(add))
                connection.execute(f"INSERT INTO {TABLE} FROM incoming")
                connection.unregister("incoming")
            if remove:
                places = ", ".join(map(str, remove))
                connection.execute(f'DELETE FROM {TABLE} WHERE "row number" IN ({places})')

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


def _listed(table: pa.Table) -> list[Row]:
    rows: list[Row] = table.to_pylist()
    return rows


def counted(rows: list[Row]) -> Counter[Any]:
    return Counter(tuple(map(atom, row.values())) for row in rows)


def case(seed: int, *, trees: bool) -> Drawn:
    """The case of a seed; with `trees`, one that searches a cut tree."""
    drawn = draw(seed)
    if not trees:
        return drawn
    policy, publish = drawn.policy, drawn.policy["publish"]
    labels = ("region", "snapped", "tight")[seed % 3]
    effort = ("default", "default", "fast", "thorough")[seed % 4]
    policy["search"] = {"recoding": "multidimensional", "labels": labels, "effort": effort}
    if labels == "tight":
        policy["search"]["accept"] = "an attack"
    policy["privacy"].pop("k_map", None)
    policy.pop("population", None)
    if publish.get("unseen") == "top":
        publish["unseen"] = "leave_out"
    if drawn.mode == "view":
        publish["mode"] = "table"
    mode = "table" if drawn.mode == "view" else drawn.mode
    return replace(drawn, population=[], mode=mode)


def attack(seed: int, tighten: Fraction, *, trees: bool = False) -> Outcome:
    """Publishes the table of a seed and recounts it."""
    drawn = case(seed, trees=trees)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(drawn, Path(folder))
        try:
            return _attack(drawn, place, tighten)
        finally:
            place.close()


def _attack(drawn: Drawn, place: Place, tighten: Fraction) -> Outcome:
    outcome = Outcome(drawn.seed)
    first = before = place.source_rows()
    chosen = None
    try:
        with sqlanon.load(place.policy, **place.keywords) as anonymizer:
            result = anonymizer.search()
            chosen = result.chosen if drawn.pick == "chosen" else None
            number = drawn.seed % len(result.solutions) if chosen is None else chosen
            scheme: Any = result.solutions[number]
            if drawn.later:
                result.write(place.folder / "result.json")
                scheme = f"{place.folder}/result.json#{number}"
        if drawn.later:
            place.change([drawn.rows[n] for n in drawn.later], [])
            before = place.source_rows()
        with sqlanon.load(place.policy, **place.keywords) as anonymizer:
            release = anonymizer.publish(scheme)
            if drawn.seed % 5 == 0 and drawn.mode != "replace":  # over a former release
                file = "file" in place.policy["publish"]
                release = anonymizer.publish(scheme, replace_file=file)
    except sqlanon.SqlanonError as error:
        outcome.refused = type(error).__name__
        if counted(place.source_rows()) != counted(before):
            outcome.violations.append(Violation("source", f"changed by a refusal: {error}"))
        marks = drawn.policy.get("suppression", {}).get("rows") == "mark"
        as_found = chosen is not None and not drawn.later and not marks
        if as_found and isinstance(error, VerificationError):
            outcome.violations.append(Violation("search", f"chosen, then refused: {error}"))
        return outcome
    if drawn.mode != "replace" and counted(place.source_rows()) != counted(before):
        outcome.violations.append(Violation("source", "changed by a release"))
    evidence = Evidence(
        drawn.policy, drawn.kinds, before, place.released_rows(release), drawn.trees,
        drawn.population, as_text=drawn.mode == "csv", grown=bool(drawn.later), first=first,
    )  # fmt: skip
    recount = Recount(evidence)
    outcome.violations += violations(evidence)
    outcome.left_out = len(before) - len(evidence.released)
    said = (release.rows, release.left_out, release.k)
    if said != (len(evidence.released), outcome.left_out, recount.k):
        outcome.violations.append(Violation("report", f"{said} is said of the release"))
    outcome.checked = {model.key for model in recount.models()}
    harder = replace(evidence, policy=tightened(drawn.policy, tighten))
    outcome.control = {each.rule for each in Recount(harder).of_models()}
    if drawn.mode == "view":
        outcome.violations += _changed_view(drawn, place, release, evidence)
    return outcome


def _changed_view(
    drawn: Drawn, place: Place, release: sqlanon.Release, evidence: Evidence
) -> list[Violation]:
    """A view keeps its promises when rows join and leave its source."""
    more = [{**drawn.rows[n], "row number": len(drawn.rows) + n} for n in drawn.changed[::3]]
    place.change(more, drawn.changed)
    source = place.source_rows()
    if not source:
        return []
    later = replace(
        evidence, source=source, released=place.released_rows(release), grown=True, guarded=True
    )
    return [replace(each, rule=f"{each.rule} of a view") for each in violations(later)]


def run(tables: int, seed: int, tighten: Fraction, *, trees: bool = False) -> dict[str, Any]:
    """Attacks with so many tables, and what came of them as a document."""
    start = time.process_time()
    refused: Counter[str] = Counter()
    modes: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    control: Counter[str] = Counter()
    found: list[dict[str, Any]] = []
    suppressed = 0
    for number in range(seed, seed + tables):
        try:
            outcome = attack(number, tighten, trees=trees)
        except Exception:
            lines = traceback.format_exc().splitlines()
            found.append({"seed": number, "rule": "crash", "text": "\n".join(lines[-12:])})
            continue
        found += [
            {"seed": number, "rule": each.rule, "text": each.text} for each in outcome.violations
        ]
        if outcome.refused:
            refused[outcome.refused] += 1
            continue
        modes[case(number, trees=trees).mode] += 1
        checked.update(outcome.checked)
        control.update(outcome.control)
        suppressed += outcome.left_out > 0
    return {
        "tables": tables,
        "seed": seed,
        "released": modes.total(),
        "with_rows_left_out": suppressed,
        "modes": dict(sorted(modes.items())),
        "refused": dict(sorted(refused.items())),
        "violations": found,
        "models": {
            model: {"releases": checked[model], "violated_when_tightened": control[model]}
            for model in MODELS
            if model != "k_map" or not trees
        },
        "tightened_by": float(tighten),
        "processor_seconds": round(time.process_time() - start, 1),
    }


def unseen_by_control(document: dict[str, Any]) -> list[str]:
    """The models that the control did not see violated."""
    return [
        model
        for model, figures in document["models"].items()
        if not figures["violated_when_tightened"]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1, help="that of the first table")
    parser.add_argument("--tighten", type=Fraction, default=Fraction("0.9"))
    parser.add_argument("--trees", action="store_true", help="search cut trees")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    document = run(options.tables, options.seed, options.tighten, trees=options.trees)
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        print(f"{document['tables']} tables, {document['released']} released "
              f"{document['modes']}, refused {document['refused']}")  # fmt: skip
        for model, figures in document["models"].items():
            print(f"  {model:15} {figures['releases']:5} releases, tightened: "
                  f"{figures['violated_when_tightened']:5} violate it")  # fmt: skip
        for each in document["violations"]:
            print(f"seed {each['seed']}: {each['rule']}: {each['text']}")
        print(f"{len(document['violations'])} violations")
    return 1 if document["violations"] or unseen_by_control(document) else 0


if __name__ == "__main__":
    sys.exit(main())
