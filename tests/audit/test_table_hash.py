"""The hash of a table, against its definition in plain Python.

The texts of values are written by hand, or by Python's own modules.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import random
import struct
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from audit_oracle import Case, cases
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.audit.table_hash import HashVersion, hashed_rows, table_hash
from sqlanon.engines.duckdb import DuckDBEngine, open_memory
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source
from sqlanon.errors import EngineError

CERTIFICATES = Path(__file__).parents[2] / "docs" / "certificate.md"


@cache
def engine() -> DuckDBEngine:
    """One for all hashes: opening a database takes longer than a hash."""
    return open_memory()


def hash_of(table: pa.Table, version: HashVersion = 2, *, grouped: bool = True) -> str:
    source = Source.of(engine(), engine().register(table))
    return table_hash(source, table.column_names, version, grouped=grouped)


def defined(columns: list[str], rows: list[tuple[str | None, ...]], version: int = 2) -> str:
    """The definition: sums of both halves of the MD5 of the rows' texts."""
    sums = [0, 0]
    for row in rows:
        text = "".join("-1:" if t is None else f"{len(t)}:{t}" for t in row)
        digits = hashlib.md5(text.encode()).hexdigest()
        sums[0] += int(digits[:16], 16)
        sums[1] += int(digits[16:], 16)
    document = [version, columns, len(rows), str(sums[0]), str(sums[1])]
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def written(value: Any) -> str | None:
    """The text of a value by docs/certificate.md."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return (
            "nan"
            if math.isnan(value)
            else str(*struct.unpack(">q", struct.pack(">d", value + 0.0)))
        )
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(sep=" ")
        return text.rstrip("0") if "." in text else text
    return str(value)  # a whole number or a date


def test_a_hash_that_was_worked_out_by_hand() -> None:
    """Two rows ('1', NULL) and one ('', 'é'), by `printf 1:1-1: | md5sum` and `0:1:é`."""
    halves = [
        2 * 0xB64B37D02539728A + 0x099E597EF642483A,
        2 * 0xB75A44F060E495DB + 0x2CDBC91F58F4171D,
    ]
    text = f'[2, ["a", "b"], 3, "{halves[0]}", "{halves[1]}"]'
    assert f"`{text}`" in CERTIFICATES.read_text(encoding="utf-8")  # the example of the page
    expected = hashlib.sha256(text.encode()).hexdigest()
    table = pa.table({"a": ["1", "", "1"], "b": [None, "é", None]})
    assert hash_of(table) == expected


TEXTS = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), max_size=20))
@settings(max_examples=150, deadline=None)
def test_the_definition(rows: list[tuple[str | None, ...]]) -> None:
    first, second = ([row[i] for row in rows] for i in (0, 1))
    table = pa.table({"a": pa.array(first, pa.string()), "é": pa.array(second, pa.string())})
    assert hash_of(table) == defined(["a", "é"], rows)
    assert hash_of(table, 1) == defined(["a", "é"], rows, 1)


VALUES: dict[str, tuple[str, str | None]] = {
    "tiny": ("1::TINYINT", "1"),
    "huge": ("170141183460469231731687303715884105727::HUGEINT", str(2**127 - 1)),
    "negative": ("-5", "-5"),
    "decimal": ("1.50::DECIMAL(5, 2)", "1.5"),
    "hundred": ("100::DECIMAL(5, 0)", "100"),
    "wide": ("100.00::DECIMAL(38, 10)", "100"),
    "fraction": (".05::DECIMAL(2, 2)", "0.05"),
    "below": ("-.05::DECIMAL(2, 2)", "-0.05"),
    "zero": ("0::DECIMAL(2, 2)", "0"),
    # sign, 11 bits of the exponent plus 1023, 52 bits after the first: 1.5 = 1.1 in binary
    "half": ("1.5::DOUBLE", str((1023 << 52) + (1 << 51))),
    "minus_half": ("-1.5::DOUBLE", str((1023 << 52) + (1 << 51) - 2**63)),
    "single": ("1.5::FLOAT", str((1023 << 52) + (1 << 51))),
    "tenth": ("0.1::DOUBLE", str(0x3FB999999999999A)),
    "tenth_single": ("0.1::FLOAT", str(0x3FB99999A0000000)),
    "least": ("5e-324::DOUBLE", "1"),
    "most": ("1.7976931348623157e308::DOUBLE", str(0x7FEFFFFFFFFFFFFF)),
    "infinite": ("'-inf'::DOUBLE", str((2047 << 52) - 2**63)),
    "nothing": ("-0.0::DOUBLE", "0"),
    "not_a_number": ("-('nan'::DOUBLE)", "nan"),
    "yes": ("true", "true"),
    "no": ("false", "false"),
    "day": ("DATE '0987-01-02'", "0987-01-02"),
    "later": ("DATE '12020-01-02'", "12020-01-02"),
    "moment": ("TIMESTAMP '2020-01-02 03:04:05.5'", "2020-01-02 03:04:05.5"),
    "midnight": ("TIMESTAMP '2020-01-02'", "2020-01-02 00:00:00"),
    "nanoseconds": ("'2020-01-02 03:04:05.5'::TIMESTAMP_NS", "2020-01-02 03:04:05.5"),
    "instant": ("TIMESTAMPTZ '2020-01-02 03:04:05.25+01'", "2020-01-02 02:04:05.25"),
    "listed": ("'x'::ENUM('x', 'y')", "x"),
    "uuid": (
        "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    ),
    "text": ("' é👩‍🚀'", " é👩‍🚀"),
    "missing": ("NULL::DOUBLE", None),
    "missing_decimal": ("NULL::DECIMAL(3, 1)", None),
}  # fmt: skip


@pytest.mark.parametrize("grouped", [True, False])
def test_the_texts_of_values(grouped: bool) -> None:
    query = ", ".join(f"{sql} AS {name}" for name, (sql, _) in VALUES.items())
    source = open_source(query=f"SELECT {query}", connection=None)
    for name, (_, text) in VALUES.items():  # one by one, so that a failure names the value
        assert table_hash(source, [name], grouped=grouped) == defined([name], [(text,)]), name
    expected = defined(list(VALUES), [tuple(text for _, text in VALUES.values())])
    assert table_hash(source, list(VALUES), grouped=grouped) == expected


def test_the_texts_of_version_1() -> None:
    """As DuckDB writes them; certificates of before version 3 have such hashes."""
    query = """
        SELECT 1::TINYINT AS a, 1.50::DECIMAL(5, 2) AS b, 0.1::DOUBLE AS c, 1e20::DOUBLE AS d,
               true AS e, DATE '2020-01-02' AS f, TIMESTAMP '2020-01-02 03:04:05.5' AS g,
               TIMESTAMPTZ '2020-01-02 03:04:05+01' AS h, 'x'::ENUM('x', 'y') AS i,
               170141183460469231731687303715884105727::HUGEINT AS j
    """
    texts = ("1", "1.50", "0.1", "1e+20", "true", "2020-01-02", "2020-01-02 03:04:05.5",
             "2020-01-02 02:04:05", "x", str(2**127 - 1))  # fmt: skip
    source = open_source(query=query, connection=None)
    names = [info.name for info in source.columns]
    assert table_hash(source, names, 1) == defined(names, [texts], 1)


MOMENTS = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "i": (pa.int64(), st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)),
    "n": (pa.decimal128(9, 4), st.decimals(-99999, 99999, places=4) | st.just(Decimal("1.5"))),
    "x": (pa.float64(), st.floats() | st.sampled_from([0.0, -0.0, 0.5])),
    "b": (pa.bool_(), st.booleans()),
    "d": (pa.date32(), MOMENTS.map(dt.datetime.date) | st.just(dt.date(2020, 1, 2))),
    "t": (pa.timestamp("us"), MOMENTS | st.just(dt.datetime(2020, 1, 2))),
    "s": (pa.string(), st.sampled_from(["", "a", "b", "1:a", "é"])),
}
ROWS = st.lists(st.tuples(*(st.none() | values for _, values in COLUMNS.values())), max_size=6)


def as_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    types = [each for each, _ in COLUMNS.values()]
    arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, list(COLUMNS))


@given(rows=ROWS, copies=st.integers(1, 3), seed=st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_rows_of_every_kind(rows: list[tuple[Any, ...]], copies: int, seed: int) -> None:
    """Against Python, in any order, grouped or not; and every change of the rows changes it."""
    rows = rows * copies
    random.Random(seed).shuffle(rows)
    table = as_table(rows)
    found = hash_of(table)
    assert found == hash_of(table, grouped=False)
    assert found == defined(list(COLUMNS), [tuple(map(written, row)) for row in rows])
    if not rows:
        return
    assert hash_of(as_table(rows[1:])) != found
    assert hash_of(as_table([*rows, rows[0]])) != found
    place = seed % len(COLUMNS)
    others = {1: Decimal("0.0001"), 2: 0.25, 3: True, 4: dt.date(1, 1, 1), 6: "c"}
    other = others.get(place, dt.datetime(1, 1, 1) if place == 5 else 4)
    before = rows[0][place]
    if written(before) == written(other):
        other = None
    changed = (*rows[0][:place], other, *rows[0][place + 1 :])
    assert hash_of(as_table([changed, *rows[1:]])) != found


@given(case=cases(), rng=st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_does_not_matter_and_duplicates_do(case: Case, rng: object) -> None:
    table = case.table
    order = list(range(table.num_rows))
    rng.shuffle(order)  # type: ignore[attr-defined]
    assert hash_of(table.take(pa.array(order, pa.int64()))) == hash_of(table)
    if table.num_rows:
        assert hash_of(pa.concat_tables([table, table.slice(0, 1)])) != hash_of(table)
        assert hash_of(table.slice(1)) != hash_of(table)


@given(case=cases(most_rows=8))
@settings(max_examples=40, deadline=None)
def test_read_back_from_parquet_and_a_table(
    case: Case, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("back")
    expected = hash_of(case.table)
    names = case.table.column_names
    with duckdb.connect(folder / "t.duckdb") as connection:
        connection.register("given", case.table)
        connection.execute("CREATE TABLE t AS FROM given")
        connection.execute(f"COPY given TO '{folder / 't.parquet'}'")
        connection.execute("SET threads = 1")
        connection.execute("SET TimeZone = 'America/New_York'")
        table = open_source(connection=connection, table="t")
        assert table_hash(table, names) == expected
    file = open_source(file=folder / "t.parquet")
    assert table_hash(file, names) == expected
    file.engine.close()


def test_unique_rows() -> None:
    """Two rows share 0.0 and -0.0, and Ann has both of NULL; Bob's NaN is his own."""
    people, values = ["Ann", "Bob", "Ann", "Ann", "Bob"], [0.0, -0.0, None, None, math.nan]
    source = open_source(data=pa.table({"who": people, "x": pa.array(values, pa.float64())}))
    by_rows, by_people = (hashed_rows(source, ["x"], subject=who) for who in (None, "who"))
    source.engine.close()
    assert (by_rows.rows, by_rows.unique) == (5, 1)
    assert (by_people.rows, by_people.unique) == (5, 3)
    assert by_rows.hash == by_people.hash


def test_what_differs() -> None:
    def two(*cells: str | None) -> str:
        return hash_of(pa.table({"a": pa.array(cells[:1]), "b": pa.array(cells[1:])}))

    different = [(None, "x"), ("", "x"), ("NULL", "x"), ("-1:", "x"), ("x", None), ("x", ""),
                 ("", ""), (" ", ""), ("", " "), ("ab", "c"), ("a", "bc"), ("a1:b", ""),
                 ("a", "1:b"), ("1:a", "b"), ("\u00e9", ""), ("e\u0301", ""), ("A", "b"),
                 ("a", "b")]  # fmt: skip
    assert len({two(*cells) for cells in different}) == len(different)
    names = [["a", "b"], ["b", "a"], ["a", "B"], ["a,b", "c"], ["a", "b,c"]]
    assert len({hash_of(pa.table({name: ["x"] for name in n})) for n in names}) == len(names)


@pytest.mark.parametrize("grouped", [True, False])
def test_a_collation_joins_nothing(grouped: bool) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('a'), ('A')")
        source = open_source(connection=connection, table="t")
        assert table_hash(source, ["a"], grouped=grouped) == defined(["a"], [("a",), ("A",)])


def test_what_does_not() -> None:
    minus_nan = duckdb.sql("SELECT -('nan'::DOUBLE) AS x").to_arrow_table()
    assert hash_of(minus_nan) == hash_of(pa.table({"x": [math.nan]}))
    assert hash_of(pa.table({"x": [-0.0]})) == hash_of(pa.table({"x": [0.0]}))
    assert hash_of(pa.table({"x": [math.nan]})) != hash_of(pa.table({"x": [None, 0.5][:1]}))
    one, other = (duckdb.sql(f"SELECT 1.5::DECIMAL({w}) AS x") for w in ("5, 2", "38, 37"))
    assert hash_of(one.to_arrow_table()) == hash_of(other.to_arrow_table())
    hashes = set()
    for zone in ("UTC", "Asia/Tokyo"):
        with duckdb.connect() as connection:
            connection.execute(f"SET TimeZone = '{zone}'")
            query = "SELECT TIMESTAMPTZ '2020-01-01 00:00:00+00' AS x"
            source = open_source(connection=connection, query=query)
            hashes.add(table_hash(source, ["x"]))
    assert len(hashes) == 1


def test_threads_do_not_matter() -> None:
    found = set()
    for threads in (1, 4):
        with duckdb.connect(config={"threads": threads}) as connection:
            connection.execute(
                "CREATE TABLE t AS SELECT i, random() * 0 + i / 7 AS x FROM range(300000) r(i)"
            )
            source = open_source(connection=connection, table="t")
            found.add(table_hash(source, ["i", "x"]))
    assert len(found) == 1


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    source = open_source(data=pa.table({"a": [1]}))
    with pytest.raises(EngineError, match="the table has no column 'b'"):
        table_hash(source, ["a", "b"])
