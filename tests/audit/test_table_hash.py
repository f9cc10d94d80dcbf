"""The hash of a table, against its definition in plain Python."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from audit_oracle import Case, cases
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.audit.table_hash import table_hash
from sqlanon.engines.registry import open_source
from sqlanon.errors import EngineError


def hash_of(table: pa.Table) -> str:
    source = open_source(data=table)
    try:
        return table_hash(source, table.column_names)
    finally:
        source.engine.close()


def defined(columns: list[str], rows: list[tuple[str | None, ...]]) -> str:
    """The definition: sums of both halves of the MD5 of the rows' texts."""
    sums = [0, 0]
    for row in rows:
        text = "".join("-1:" if t is None else f"{len(t)}:{t}" for t in row)
        digits = hashlib.md5(text.encode()).hexdigest()
        sums[0] += int(digits[:16], 16)
        sums[1] += int(digits[16:], 16)
    document = [1, columns, len(rows), str(sums[0]), str(sums[1])]
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


TEXTS = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), max_size=20))
@settings(max_examples=150, deadline=None)
def test_the_definition(rows: list[tuple[str | None, ...]]) -> None:
    first, second = ([row[i] for row in rows] for i in (0, 1))
    table = pa.table({"a": pa.array(first, pa.string()), "é": pa.array(second, pa.string())})
    assert hash_of(table) == defined(["a", "é"], rows)


def test_the_texts_of_other_values() -> None:
    """As DuckDB writes them; a version that writes them otherwise would change every hash."""
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
    assert table_hash(source, names) == defined(names, [texts])


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


def test_what_differs() -> None:
    def two(*cells: str | None) -> str:
        return hash_of(pa.table({"a": pa.array(cells[:1]), "b": pa.array(cells[1:])}))

    different = [(None, "x"), ("", "x"), ("NULL", "x"), ("-1:", "x"), ("x", None), ("x", ""),
                 ("", ""), (" ", ""), ("", " "), ("ab", "c"), ("a", "bc"), ("a1:b", ""),
                 ("a", "1:b"), ("1:a", "b"), ("\u00e9", ""), ("e\u0301", "")]  # fmt: skip
    assert len({two(*cells) for cells in different}) == len(different)
    names = [["a", "b"], ["b", "a"], ["a", "B"], ["a,b", "c"], ["a", "b,c"]]
    assert len({hash_of(pa.table({name: ["x"] for name in n})) for n in names}) == len(names)


def test_what_does_not() -> None:
    minus_nan = duckdb.sql("SELECT -('nan'::DOUBLE) AS x").to_arrow_table()
    assert hash_of(minus_nan) == hash_of(pa.table({"x": [math.nan]}))
    assert hash_of(pa.table({"x": [-0.0]})) == hash_of(pa.table({"x": [0.0]}))
    assert hash_of(pa.table({"x": [math.nan]})) != hash_of(pa.table({"x": [None, 0.5][:1]}))
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
