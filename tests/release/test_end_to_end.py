"""Random tables and policies through the public API: a sound release, or an error in words."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from drawn_release import Drawn, drawn_releases
from hypothesis import given, settings
from release_oracle import atom
from scheme_oracle import Recount, Row, admits, recount, released_names

import sqlanon
from sqlanon.errors import PolicyError, UncoveredValueError, VerificationError
from sqlanon.release.certificate import Document, digest_of

TABLE = '"a ""table""; --"'


@given(drawn_releases())
@settings(max_examples=50, deadline=None)
def test_a_release_is_sound_or_there_is_none(drawn: Drawn) -> None:
    try_out(drawn)


def try_out(drawn: Drawn) -> str:
    """Publishes what was drawn, and answers with what came of it."""
    with TemporaryDirectory() as name:
        place = Path(name)
        with opened(drawn, place) as (policy, keywords, connection):
            try:
                return _published(drawn, policy, keywords, connection)
            except sqlanon.SqlanonError as error:
                return _said(error)


def _said(error: sqlanon.SqlanonError) -> str:
    assert len(str(error)) > 10
    return type(error).__name__


@contextlib.contextmanager
def opened(drawn: Drawn, folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any], Any]]:
    """The policy with its places, what load() needs besides it, and a way to the source."""
    policy = {**drawn.policy, "publish": {**drawn.policy["publish"], **_target(drawn, folder)}}
    known = drawn.table().take([n for n in range(drawn.rows) if n not in drawn.later])
    if drawn.place == "data":
        yield policy, {"data": drawn.table()}, None
        return
    file = folder / "the database.duckdb"
    connection = duckdb.connect(file if drawn.place == "file" else ":memory:")
    connection.register("incoming", known)
    connection.execute(f"CREATE TABLE {TABLE} AS FROM incoming")
    connection.execute("CREATE TABLE canary AS SELECT 42 AS answer")
    policy["source"] = {"table": TABLE}
    if drawn.place == "connection":
        yield policy, {"connection": connection}, connection
        connection.close()
        return
    connection.close()
    policy["source"]["connection"] = f"duckdb:///{file}"
    yield policy, {}, file


def _target(drawn: Drawn, folder: Path) -> dict[str, Any]:
    if drawn.mode in ("csv", "parquet"):
        return {"file": str(folder / f"it's out.{drawn.mode}")}
    if drawn.mode == "replace":
        return {"mode": "replace"}
    if drawn.place == "data":
        return {}
    return {"to": '"it\'s ""out"""', "mode": drawn.mode}


@contextlib.contextmanager
def _own(way: Any, *, read_only: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    if isinstance(way, Path):
        with duckdb.connect(way, read_only=read_only) as connection:
            yield connection
    else:
        yield way


def _source_rows(drawn: Drawn, way: Any) -> Counter[Any]:
    if way is None:
        table = drawn.table()
    else:
        with _own(way) as connection:
            table = connection.sql(f"FROM {TABLE}").to_arrow_table()
            assert connection.sql("FROM canary").fetchall() == [(42,)]
    return Counter(tuple(map(atom, row.values())) for row in table.to_pylist())


def _add_later(drawn: Drawn, way: Any) -> None:
    if way is not None and drawn.later:
        with _own(way, read_only=False) as connection:
            connection.register("incoming", drawn.table().take(drawn.later))
            connection.execute(f"INSERT INTO {TABLE} FROM incoming")
            connection.unregister("incoming")


def _published(drawn: Drawn, policy: dict[str, Any], keywords: dict[str, Any], way: Any) -> str:
    with sqlanon.load(policy, **keywords) as anonymizer:
        found = anonymizer.search() if drawn.rng.random() < 0.2 else None
        scheme = found.solution if found and found.solution else drawn.scheme(anonymizer.space)
        measured = anonymizer.measure(scheme)
    document = measured.to_dict()
    _add_later(drawn, way)
    before = _source_rows(drawn, way)
    foreseen = recount(drawn, document) if way is None or not drawn.later else None
    suppress = "suppression" in policy or drawn.mode == "view"
    marked = "marker" in policy.get("suppression", {})
    with sqlanon.load(policy, **keywords) as anonymizer:
        try:
            if drawn.rng.random() < 0.2:
                assert "SELECT" in anonymizer.sql(measured.scheme)
                assert anonymizer.dry_run(measured.scheme)
                assert _source_rows(drawn, way) == before
            release = anonymizer.publish(measured.scheme)
        except sqlanon.SqlanonError as error:
            assert _source_rows(drawn, way) == before
            _check_refusal(error, drawn, foreseen is None or foreseen.problem(suppress, marked))
            raise
        rows = _as_texts(release.target) if drawn.mode == "csv" else release.to_arrow()
    if drawn.mode != "replace":
        assert _source_rows(drawn, way) == before
    assert rows.column_names == released_names(drawn, drawn.table().column_names)
    assert release.rows == len(rows) == drawn.rows - release.left_out
    _check_classes(drawn, rows, release.k)
    if drawn.numbered and drawn.mode != "csv":
        _check_rows(drawn, rows, foreseen)
    if foreseen is not None:
        assert not foreseen.problem(suppress, marked)
        assert release.left_out == (0 if marked else sum(foreseen.unsafe))
        _check_sizes(foreseen, rows, drawn, marked)
        _check_scores(release.certificate.to_dict()["scores"], dict(measured.scores))
    for shareable in (False, True):
        document = release.certificate.to_dict(shareable)
        read = Document.model_validate(document, strict=False)
        assert not list(read.misplaced(shareable=shareable))
        assert document["digest"] == digest_of(document)
    return "a release"


def _check_refusal(error: sqlanon.SqlanonError, drawn: Drawn, has_problem: bool) -> None:
    """A release is not refused without a reason."""
    if isinstance(error, VerificationError):
        assert has_problem, error
    if isinstance(error, UncoveredValueError):
        assert drawn.later
        assert drawn.policy["publish"]["unseen"] == "error"


def _as_texts(path: str) -> pa.Table:
    """A CSV file as it is written: an empty text has quotes, NULL has none."""
    options = "header = true, all_varchar = true, allow_quoted_nulls = false, null_padding = false"
    options += ", delim = ',', quote = '\"', escape = '\"'"
    with duckdb.connect() as connection:
        return connection.sql(f"FROM read_csv($1, {options})", params=[path]).to_arrow_table()


def _quasi(drawn: Drawn) -> list[str]:
    names = []
    for column in drawn.columns:
        bounds = column.section.get("output") == "bounds"
        names += [f"{column.name}_low", f"{column.name}_high"] if bounds else [column.name]
    return names


def _class(row: Row, names: list[str]) -> tuple[Any, ...]:
    return tuple(atom(row[name]) for name in names)


def _check_classes(drawn: Drawn, rows: pa.Table, k: int) -> None:
    """The k of the release is what it says, in rows or in people, and it is enough."""
    names = _quasi(drawn)
    found = [(_class(row, names), row) for row in rows.to_pylist()]
    if drawn.people is None:
        sizes = Counter(each for each, _ in found)
    elif drawn.numbered:
        people = drawn.people
        sizes = Counter(c for c, _ in {(c, people[int(row["number"])]) for c, row in found})
    else:
        return
    assert min(sizes.values()) == k >= drawn.policy["privacy"]["k"]


def _check_rows(drawn: Drawn, rows: pa.Table, foreseen: Recount | None) -> None:
    """Row by row: true labels, one a group; pseudonyms, one a value; the rest as it was."""
    pairs: dict[str, set[tuple[Any, Any]]] = {}
    marker = drawn.policy.get("suppression", {}).get("marker")
    hides = drawn.policy["publish"]["unseen"] == "top"
    for row in rows.to_pylist():
        number = row["number"]
        assert row["illness"] == drawn.illnesses[number]
        is_pseudonym = drawn.policy["columns"]["ward"]["role"] == "pseudonym"
        if is_pseudonym:
            pairs.setdefault("ward", set()).add((drawn.wards[number], row["ward"]))
        else:
            assert row["ward"] == drawn.wards[number]
        if "who" in row:
            assert drawn.people is not None
            pairs.setdefault("who", set()).add((drawn.people[number], row["who"]))
        if marker is not None and all(row[name] in (marker, "*") for name in _quasi(drawn)):
            continue
        for place, column in enumerate(drawn.columns):
            cell = column.cells[number]
            shown = _shown(column.name, row, column.section.get("output", "label"))
            if column.section.get("output", "label") == "label":
                top = hides and number in drawn.later
                assert top or admits(column, shown[0], cell), (shown, cell)
            elif column.section["output"] in ("lower", "bounds") and cell is not None:
                assert shown[0] is None or shown[0] <= cell
                assert shown[-1] is None or len(shown) == 1 or cell <= shown[1]
            if foreseen is not None:
                group = foreseen.groups[number][place]
                pairs.setdefault(column.name, set()).add((group, tuple(map(atom, shown))))
    for name, found in pairs.items():
        for side in (0, 1):
            assert max(Counter(pair[side] for pair in found).values()) == 1, (name, found)
    for source, pseudonym in pairs.get("ward", set()):
        assert (source is None) == (pseudonym is None)
        assert source is None or len(pseudonym) == 32


def _shown(name: str, row: Row, output: str) -> tuple[Any, ...]:
    return (row[f"{name}_low"], row[f"{name}_high"]) if output == "bounds" else (row[name],)


def _check_sizes(foreseen: Recount, rows: pa.Table, drawn: Drawn, marked: bool) -> None:
    """The classes have the sizes that the scheme's groups give, however they are written."""
    kept = Counter(g for g, s in zip(foreseen.groups, foreseen.unsafe, strict=True) if not s)
    expected = Counter(kept.values())
    if marked and any(foreseen.unsafe):
        expected[sum(foreseen.unsafe)] += 1
    sizes = Counter(_class(row, _quasi(drawn)) for row in rows.to_pylist())
    assert Counter(sizes.values()) == expected


def _check_scores(certified: dict[str, Any], measured: dict[str, Any]) -> None:
    for name in ("nwp", "necd", "glm", "glm_share", "dcn"):
        assert certified[name] == pytest.approx(measured[name], abs=1e-9), name


def test_what_a_policy_cannot_have_is_said_in_words() -> None:
    """One refusal by hand: rows that are marked, in a column that holds numbers."""
    policy = {
        "columns": {"age": {"role": "quasi", "range": [0, 9], "granularity": 3, "output": "lower"}},
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "suppression": {"limit": 0.5, "rows": "mark"},
    }
    with pytest.raises(PolicyError, match="column 'age': output lower has no place for the marker"):
        sqlanon.load(policy, data=pa.table({"age": [1, 1, 4]}))
