"""One behaviour on every engine: the same table, policy and seed give the same of everything.

DuckDB and PostgreSQL are compared with each other; what both must find is counted by hand where
it says so. The SQLite engine of test_another_engine.py is compared with DuckDB there.
"""

from __future__ import annotations

import datetime as dt
import json
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from postgres_server import Database

import sqlanon
from sqlanon.audit import table_hash
from sqlanon.engines import open_source

ROWS: list[tuple[Any, ...]] = [
    (
        n,
        20 + n % 17,  # whole numbers, with integer division
        ["Oslo", "oslo", "Oslo ", "", None, "Ålesund", "A\u030alesund"][n % 7],
        Decimal(n % 5) / 4,
        [0.0, -0.0, 1.5, float("inf"), None][n % 5],
        dt.date(2020, 1 + n % 12, 1 + n % 28),
        dt.datetime(2021, 6, 1 + n % 20, 12, 30),
        ["flu", "cold", "gout", "scurvy", None][n % 5],
        bool(n % 2),
    )
    for n in range(140)
]
COLUMNS = {
    "id": "bigint", "age": "integer", "select": "text", "dose": "decimal(6, 2)",
    "level": "double precision", "born": "date", "seen": "timestamp", 'il"l': "text",
    "smoker": "boolean",
}  # fmt: skip
QUASI: dict[str, dict[str, Any]] = {
    "age": {"role": "quasi", "range": [20, 40], "granularity": 5},
    "select": {"role": "quasi"},
    "dose": {"role": "quasi"},
    "level": {"role": "quasi"},
    "born": {"role": "quasi", "range": ["2020-01-01", "2021-01-01"], "granularity": "month"},
    "seen": {"role": "quasi"},
    "smoker": {"role": "quasi"},
}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def fill(tmp_path: Path, postgres: Database, rows: list[tuple[Any, ...]] = ROWS) -> list[str]:
    """The same table in both databases; their addresses."""
    columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in COLUMNS.items())
    create = f'CREATE TABLE "Order" ({columns})'
    path = tmp_path / "hospital.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(create)
        places = ", ".join("?" for _ in COLUMNS)
        connection.executemany(f'INSERT INTO "Order" VALUES ({places})', rows)
    postgres.run(create)
    postgres.insert('"Order"', rows)
    return [f"duckdb:///{path}", postgres.address]


def policy(address: str, *quasi: str, **changes: Any) -> dict[str, Any]:
    columns = {name: QUASI[name] for name in quasi}
    return {
        "source": {"connection": address, "table": '"Order"'},
        "columns": {**columns, "id": {"role": "identifying"}, 'il"l': {"role": "sensitive"}},
        "others": "drop",
        "one_row_per_person": True,
        "privacy": {"k": 3, "homogeneity": {"accept": "a test"}},
        "suppression": {"limit": 0.2},
        "publish": {"to": "anon"},
    } | changes


def sorted_rows(table: pa.Table) -> list[str]:
    """The rows of a release, decimals without their scale."""
    plain = [
        column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column
        for column in table.columns
    ]
    return sorted(map(repr, zip(*(each.to_pylist() for each in plain), strict=True)))


def made(address: str, folder: Path, document: dict[str, Any]) -> dict[str, Any]:
    """All that must be equal: histogram, scheme, rows, and the certificate but for its place."""
    folder.mkdir()
    with sqlanon.load(document) as anonymizer:
        tally, space = anonymizer.histogram.tally, anonymizer.space
        result = anonymizer.search(seed=1)
        assert result.solution is not None, result.shortfall()
        release = anonymizer.publish(result, certificates=folder)
        certificate = release.certificate.to_dict()
        found = {
            "domains": [repr(column.domain) for column in space.columns],
            "tuples": dict(zip(map(tuple, tally.codes.tolist()), tally.rows.tolist(), strict=True)),
            "scheme": result.solution.scheme,
            "rows": sorted_rows(release.to_arrow()),
            "hash": release.table_hash,
            "certificate": counted_in(certificate),
        }
    mode = document["publish"].get("mode", "table")
    place = '"Order"' if mode == "replace" else "anon"
    path = next(folder.glob("*.certificate.json"))
    assert sqlanon.checking.recheck(address, path, table=place).holds
    return found


IN_ONE_PLACE_ONLY = {
    "id", "time", "digest", "target", "versions", "sql", "summary", "origin", "source",
    "statement", "fingerprint", "software",
}  # fmt: skip


def counted_in(value: Any) -> Any:
    """A certificate without what names the database, the moment, or its SQL."""
    if isinstance(value, dict):
        return {k: counted_in(v) for k, v in value.items() if k not in IN_ONE_PLACE_ONLY}
    if isinstance(value, list):
        return [counted_in(each) for each in value]
    return pytest.approx(value, rel=1e-9) if isinstance(value, float) else value


CASES: dict[str, dict[str, Any]] = {
    "texts": {"quasi": ["age", "select"]},
    "numbers": {"quasi": ["dose", "level", "smoker"]},
    "dates": {"quasi": ["born", "seen"], "privacy": {"k": 2, "l_diversity": {"l": 2}}},
    "marked": {"quasi": ["age", "dose"], "suppression": {"limit": 0.2, "rows": "mark"}},
    "models": {"quasi": ["age", "smoker"], "privacy": {
        "k": 3, "t_closeness": {"t": 0.5}, "beta_likeness": {"beta": 4}}},
    "ordered": {"quasi": ["age", "smoker"], "columns": {"dose": {"role": "sensitive"}}, "privacy": {
        "k": 3, "t_closeness": {"columns": ["dose"], "t": 0.4, "distance": "ordered"},
        "homogeneity": {"accept": "a test"}}},
    "people": {"quasi": ["age", "smoker"], "one_row_per_person": False, "subject": "id"},
    "replaced": {"quasi": ["age", "level"], "publish": {"mode": "replace"}},
    "viewed": {"quasi": ["age", "select"], "publish": {"to": "anon", "mode": "view"}},
    "midpoints": {"quasi": ["age"], "columns": {"age": QUASI["age"] | {"output": "midpoint"}}},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_same_of_everything(tmp_path: Path, postgres: Database, name: str) -> None:
    case = dict(CASES[name])
    quasi, columns = case.pop("quasi"), case.pop("columns", {})
    one, other = (
        made(address, tmp_path / str(place), document)
        for place, address in enumerate(fill(tmp_path, postgres))
        if (document := policy(address, *quasi, **case))
        and (document["columns"].update(columns) is None)
    )
    for part, expected in one.items():
        assert other[part] == expected, part


HASHED: dict[str, tuple[str, list[Any]]] = {
    "n": ("bigint", [-5, 2**62, 0, None, 7]),
    "x": ("double precision", [-0.0, 0.1, float("nan"), 1e300, None]),
    "r": ("real", [0.5, 1.5, -2.25, None, 0.1]),
    "d": ("decimal(12, 4)", ["0.5", "-0.25", "100", "1.5000", None]),
    "t": ("text", ["", "é👩‍🚀", "1:a", None, "NULL"]),
    "b": ("boolean", [True, False, None, True, False]),
    "day": ("date", ["2020-02-29", "0001-01-01", "9999-12-31", None, "1970-01-01"]),
    "at": ("timestamp", ["2020-02-29 01:02:03.5", "1970-01-01", None, "1969-12-31", "2021-01-01"]),
    "tz": (
        "timestamptz",
        ["2020-02-29 01:02:03+02", None, "1970-01-01 00:00:00Z", "2021-01-01 00:00:00Z", None],
    ),
    "u": ("uuid", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", None, None, None, None]),
}


@pytest.mark.parametrize("name", HASHED)
def test_the_same_hash_of_every_kind_of_value(
    tmp_path: Path, postgres: Database, name: str
) -> None:
    type_, values = HASHED[name]
    with duckdb.connect(tmp_path / "h.duckdb") as connection:
        connection.execute(f"CREATE TABLE h (a {type_})")
        connection.executemany("INSERT INTO h VALUES (?)", [[value] for value in values])
    postgres.run(f"CREATE TABLE h (a {type_})")
    postgres.insert("h", [[value] for value in values])
    found = set()
    for address in (f"duckdb:///{tmp_path / 'h.duckdb'}", postgres.address):
        with closing((source := open_source(connection=address, table="h")).engine):
            found |= {table_hash(source, ["a"], grouped=grouped) for grouped in (True, False)}
    assert len(found) == 1


def test_a_release_of_one_engine_passes_the_check_of_the_other(
    tmp_path: Path, postgres: Database
) -> None:
    """And of a third party: pycanon counts the same k."""
    from pycanon import anonymity

    addresses = fill(tmp_path, postgres)
    for place, address in enumerate(addresses):
        folder = tmp_path / f"certificates {place}"
        folder.mkdir()
        document = policy(address, "age", "smoker")
        with sqlanon.load(document) as anonymizer:
            release = anonymizer.publish(anonymizer.search(seed=1), certificates=folder)
        rows = release.to_arrow()
        frame = release.to_pandas().fillna("NULL")
        assert anonymity.k_anonymity(frame, ["age", "smoker"]) == release.k
        assert sqlanon.check(rows, ["age", "smoker"], k=release.k).holds
        certificate = folder / "anon.certificate.json"
        if place == 1:  # what PostgreSQL released, read by DuckDB
            assert sqlanon.checking.recheck(rows, certificate).holds
            continue
        types = ["boolean" if pa.types.is_boolean(t) else "text" for t in rows.schema.types]
        named = zip(rows.column_names, types, strict=True)
        columns = ", ".join(f"{quoted(each)} {type_}" for each, type_ in named)
        postgres.run(f"CREATE TABLE moved ({columns})")
        postgres.insert("moved", [list(row.values()) for row in rows.to_pylist()])
        assert sqlanon.checking.recheck(postgres.address, certificate, table="moved").holds


def test_utility_is_the_same(tmp_path: Path, postgres: Database) -> None:
    """Own queries and random counts; the rows are drawn by a hash that engines may choose."""
    found = []
    for address in fill(tmp_path, postgres):
        with sqlanon.load(policy(address, "age", "smoker")) as anonymizer:
            scheme = anonymizer.search(seed=1).solution.scheme
            query = "SELECT COUNT(*) FROM data WHERE smoker"
            utility = anonymizer.utility(scheme, sql=[query], queries=20, seed=1)
            found.append([(each.source, each.release) for each in utility.queries])
    assert found[0] == found[1]
    assert found[0][0][0] == sum(bool(row[8]) for row in ROWS)


def test_nan_is_one_value(tmp_path: Path, postgres: Database) -> None:
    """Two NaN, one of them with a sign, beside two zeros: k is 2 in both, by hand."""
    values = ["NaN", "-NaN", "0", "-0"]
    with duckdb.connect(tmp_path / "n.duckdb") as connection:
        connection.execute("CREATE TABLE n (a DOUBLE)")
        connection.execute("INSERT INTO n SELECT CAST(unnest(?) AS DOUBLE)", [values])
    postgres.run("CREATE TABLE n (a float8)")
    postgres.insert("n", [[value.removeprefix("-") if "N" in value else value] for value in values])
    for address in (f"duckdb:///{tmp_path / 'n.duckdb'}", postgres.address):
        found = sqlanon.check(address, "a", table="n")
        assert (found.k, found.classes) == (2, 2)


def test_certificates_name_the_engine_and_no_password(
    tmp_path: Path, postgres: Database, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """A password of an address, of PGPASSWORD, of a service file and of .pgpass."""
    fill(tmp_path, postgres)
    caplog.set_level("DEBUG")
    host, port = "127.0.0.1", postgres.server.port
    plain = f"host={host}\nport={port}\nuser=postgres\ndbname={postgres.name}\npassword=s3cr3t\n"
    (tmp_path / "service.conf").write_text(f"[ward]\n{plain}")
    (tmp_path / "pgpass").write_text("*:*:*:*:s3cr3t\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "service.conf"))
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    place = f"{host}:{port}/{postgres.name}"
    for number, address in enumerate(
        (
            f"postgresql://postgres:s3cr3t@{place}",
            f"postgres://postgres@{place}?password=s3cr3t",
            "postgresql:///?service=ward",
            f"postgresql://postgres@{place}",
        )
    ):
        if number == 3:
            monkeypatch.setenv("PGPASSWORD", "s3cr3t")
        folder = tmp_path / f"out {number}"
        folder.mkdir()
        with sqlanon.load(policy(address, "age")) as anonymizer:
            result = anonymizer.search(seed=1)
            result.write(folder / "result.json")
            release = anonymizer.publish(result, certificates=folder)
            shown = f"{anonymizer!r} {release!r} {release} {release.statements}"
        texts = [path.read_text(encoding="utf-8") for path in folder.iterdir()]
        assert len(texts) == 5
        assert not any("s3cr3t" in text for text in [*texts, shown, caplog.text])
        names = json.loads((folder / "anon.certificate.json").read_text(encoding="utf-8"))
        assert "postgresql" in json.dumps(names)


def test_sums_beyond_64_bits_come_back_as_numbers(postgres: Database) -> None:
    source = open_source(
        connection=postgres.address,
        query="SELECT SUM(v) AS s, AVG(v) AS a, 1.50 AS d FROM (VALUES (9223372036854775807), "
        "(9223372036854775807)) AS t (v)",
    )
    with closing(source.engine) as engine:
        table = engine.fetch(f"SELECT * FROM ({source.relation.this.sql('postgres')}) AS t")
        assert table.to_pylist()[0]["s"] == 2 * (2**63 - 1)
        assert table.to_pylist()[0]["d"] == Decimal("1.50")
        assert pc.sum(table["d"]).as_py() == Decimal("1.50")
