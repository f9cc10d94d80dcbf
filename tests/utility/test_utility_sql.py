"""The SQL of a reconstruction as text in tests/golden/utility, and executed on six rows.

SQLANON_UPDATE_GOLDEN=1 writes the files anew; read the difference before you commit it. What is
drawn is worked out here from the hashes alone.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_table import CSV, SCHEME, changed

import sqlanon
from sqlanon.render import NATIVE, render, render_text
from sqlanon.utility.assessment import order_to_assess
from sqlanon.utility.own_queries import statements_in
from sqlanon.utility.reconstruction import reconstruction

GOLDEN = Path(__file__).parent.parent / "golden" / "utility"
COMPARED = ("reconstruct",)
CASES: dict[str, dict[str, Any]] = {
    "reconstruct": {},
    "reconstruct_marked": {
        "privacy": {"k": 3},
        "suppression": {"limit": 0.4, "rows": "mark"},
    },
}
# The released rows in their order: the first atom and the size of the group of age, and outcome.
YOUNG = [(0, 3, "no"), (0, 3, "no"), (0, 3, "yes"), (0, 3, "yes")]
RELEASED = {
    "reconstruct": [*YOUNG, (3, 1, "no"), (3, 1, "yes")],
    # "(suppressed)" comes before "[20, 35)"; such a row may be of any age.
    "reconstruct_marked": [(0, 4, "no"), (0, 4, "yes"), *YOUNG],
}


def compare(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.sql"
    if os.environ.get("SQLANON_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n"


def halves(seed: int, place: int, number: int) -> tuple[int, int]:
    """The two numbers of a cell, for the atom and for the value in it: the halves of a hash."""
    digest = hashlib.md5(f"{seed}/{place}/{number}".encode()).digest()
    return int.from_bytes(digest[8:], "little"), int.from_bytes(digest[:8], "little")


def expected(name: str, seed: int) -> list[tuple[int, str, str]]:
    """Ages from 20 in intervals of five, the last one with its right end; both sexes."""
    rows = []
    for number, (first, size, outcome) in enumerate(RELEASED[name], 1):
        which, where = halves(seed, 0, number)
        atom = first + which % size
        age = 20 + 5 * atom + where % (6 if atom == 3 else 5)
        rows.append((age, "FM"[halves(seed, 1, number)[0] % 2], outcome))
    return sorted(rows)


@pytest.mark.parametrize("name", CASES)
def test_reconstructions(name: str) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (age BIGINT, sex TEXT, outcome TEXT)")
    rows = [line.split(",") for line in CSV.splitlines()[1:]]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    policy = changed(source={"table": "people"}, **CASES[name])
    with sqlanon.load(policy, connection=connection) as anonymizer:
        engine = anonymizer.source.engine
        recipe = order_to_assess(anonymizer.policy, anonymizer.source, anonymizer.scheme(SCHEME))
    if name in COMPARED:
        compare(name, reconstruction(engine, recipe, 7))
    for seed in (7, 8):
        made = connection.sql(reconstruction(engine, recipe, seed)).fetchall()
        assert sorted(made) == expected(name, seed)


def test_a_query() -> None:
    (statement,) = statements_in(["SELECT AVG(age) FROM data WHERE sex = 'F' -- women"], NATIVE)
    rows = render_text("SELECT 30 AS age, 'F' AS sex")
    text = render("utility/query.sql", rows="rows", relation=rows, query=statement.query)
    compare("query", text)
    assert duckdb.sql(text).fetchall() == [(30.0,)]


def test_every_golden_file_is_compared() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sql")} == {*COMPARED, "query"}
