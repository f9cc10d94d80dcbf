"""Releases by the regions of a cut tree: the SQL as text, and the rows against routing by hand."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from command_line import Run
from golden_files import assert_golden
from tree_oracle import node_of

import sqlanon
from sqlanon.errors import CompileError, SqlanonError, UncoveredValueError
from sqlanon.release import lists

SPLITS: dict[str, Any] = {
    "1": ["age", "<", 40, 2, 3],
    "2": ["sex", "in", ["f"], 4, 5],
    "3": ["town", "not null", None, 6, 7],
    "6": ["town", "in", ["Oslo", "Bergen"], 8, 9],
    "8": ["age", "<", 60, 10, 11],
    "9": ["sex", "in", ["f"], 12, 13],
}
TREE = {"recoding": "multidimensional", "version": 3, "columns": {}, "tree": SPLITS}
TOWNS = ["Oslo", "Bergen", "Rome", "Milan"]
LABELS = {
    4: ("[20, 40)", "f", "*"),
    5: ("[20, 40)", "m", "*"),
    7: ("[40, 80]", "*", None),
    10: ("[40, 60)", "*", "{Oslo, Bergen}"),
    11: ("[60, 80]", "*", "{Oslo, Bergen}"),
    12: ("[40, 80]", "f", "{Rome, Milan}"),
    13: ("[40, 80]", "m", "{Rome, Milan}"),
}
"""What a reader of the seven regions would write for each, by hand."""


def policy(**changes: Any) -> dict[str, Any]:
    return {
        "source": {"table": "people"},
        "one_row_per_person": True,
        "columns": {
            "age": {"role": "quasi", "range": [20, 80], "granularity": 5},
            "sex": {"role": "quasi", "values": ["f", "m"]},
            "town": {"role": "quasi", "values": [*TOWNS, None]},
        },
        "privacy": {"k": 2},
        "publish": {"to": "released", **changes.pop("publish", {})},
        **changes,
    }


Rows = list[tuple[Any, ...]]


def rows(number: int = 120) -> Rows:
    rng = random.Random(4)
    return [
        (rng.randrange(20, 81), rng.choice("fm"), rng.choice([*TOWNS, None])) for _ in range(number)
    ]


@pytest.fixture
def people() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, town VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows())
    yield connection
    connection.close()


def routed(table: Rows) -> Rows:
    """The labels of the region that each row reaches by the oracle, sorted."""
    names = ("age", "sex", "town")
    found = [LABELS[node_of(dict(zip(names, row, strict=True)), SPLITS)] for row in table]
    return sorted(found, key=str)


def released(connection: duckdb.DuckDBPyConnection, table: str = "released") -> Rows:
    return sorted(connection.execute(f"FROM {table}").fetchall(), key=str)


@pytest.mark.parametrize(("form", "name"), [("auto", "case"), ("join", "lists")])
def test_the_sql_of_a_tree(people: duckdb.DuckDBPyConnection, form: str, name: str) -> None:
    """A reader follows a CASE from the top; a list has one join per level."""
    with sqlanon.load(policy(publish={"form": form}), connection=people) as anonymizer:
        sql = anonymizer.sql(TREE)
        anonymizer.publish(TREE)
    assert_golden(f"tree/{name}", "\n".join(sql.splitlines()[2:]))  # without versions
    assert released(people) == routed(rows())
    assert sorted(people.execute(sql).fetchall(), key=str) == routed(rows())


def test_long_lists_of_a_tree_are_loaded(
    people: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MOST_OF_TREE", 3)
    with sqlanon.load(policy(publish={"form": "join"}), connection=people) as anonymizer:
        statements = anonymizer.dry_run(TREE)
        anonymizer.publish(TREE)
        shown = anonymizer.sql(TREE)
    assert sum("CREATE TEMPORARY TABLE" in each for each in statements[:3]) == 2
    assert "reads the table 'splits_list' (node, column, below, yes, no): 6 rows" in shown
    assert released(people) == routed(rows())


def test_classes_that_fall_short_are_left_out(people: duckdb.DuckDBPyConnection) -> None:
    sizes = {each: routed(rows()).count(each) for each in LABELS.values()}
    k = sorted(sizes.values())[1]
    wanted = policy(privacy={"k": k}, suppression={"limit": 0.3})
    with sqlanon.load(wanted, connection=people) as anonymizer:
        found = anonymizer.publish(TREE)
    kept = [row for row in routed(rows()) if sizes[row] >= k]
    assert released(people) == kept
    assert found.left_out == len(rows()) - len(kept) > 0


def test_marked_rows_and_bounds(people: duckdb.DuckDBPyConnection) -> None:
    """The marker needs labels; a column of bounds has the ends of its regions."""
    wanted = policy()
    wanted["columns"]["age"]["output"] = "bounds"
    with sqlanon.load(wanted, connection=people) as anonymizer:
        anonymizer.publish(TREE)
    ends = {(low, high) for low, high, *_ in released(people)}
    assert ends == {(20, 40), (40, 80), (40, 60), (60, 80)}
    marked = policy(privacy={"k": 15}, suppression={"limit": 0.9, "rows": "mark"})
    with sqlanon.load(marked, connection=people) as anonymizer:
        anonymizer.publish(TREE)
    assert {row for row in released(people) if row[0] == "(suppressed)"} == {("(suppressed)",) * 3}


def test_new_values_are_withheld_or_refused(people: duckdb.DuckDBPyConnection) -> None:
    people.execute("INSERT INTO people VALUES (41, 'f', 'Paris'), (99, 'm', 'Rome')")
    with (
        sqlanon.load(policy(), connection=people) as anonymizer,
        pytest.raises(UncoveredValueError) as refused,
    ):
        anonymizer.publish(TREE)
    assert refused.value.values == {"age": ("99",), "town": ("Paris",)}
    with sqlanon.load(policy(publish={"unseen": "leave_out"}), connection=people) as anonymizer:
        found = anonymizer.publish(TREE)
    assert released(people) == routed(rows())
    assert found.left_out == 2


def test_a_row_that_joins_later_has_its_region(people: duckdb.DuckDBPyConnection) -> None:
    with sqlanon.load(policy(), connection=people) as anonymizer:
        sql = anonymizer.sql(TREE)
    later = [(21, "m", None), (79, "f", "Milan"), (59, "m", "Bergen")]
    people.execute("DELETE FROM people")
    people.executemany("INSERT INTO people VALUES (?, ?, ?)", later)
    assert sorted(people.execute(sql).fetchall(), key=str) == routed(later)


def test_a_table_whose_nulls_are_gone_is_released_as_before(
    people: duckdb.DuckDBPyConnection,
) -> None:
    """A column with a range has NULL when its table has."""
    tree = {**TREE, "tree": {"1": ["age", "not null", None, 20, 21], "20": SPLITS["1"]}}
    people.execute("INSERT INTO people SELECT NULL, 'f', 'Rome' FROM range(4)")
    with sqlanon.load(policy(), connection=people) as anonymizer:
        anonymizer.publish(tree)
    before = released(people)
    people.execute("DROP TABLE released")
    people.execute("DELETE FROM people WHERE age IS NULL")
    with sqlanon.load(policy(), connection=people) as anonymizer:
        anonymizer.publish(tree)
    assert released(people) == [row for row in before if row[0] is not None]
    assert len(before) - len(released(people)) == 4
    assert {row[0] for row in released(people)} == {"[20, 40)", "[40, 80]"}


def test_null_in_a_column_that_boxes_alone_narrow(
    people: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """By hand: two NULLs among five women stay with them; the men are all of one age."""
    people.execute("DELETE FROM people")
    people.execute("INSERT INTO people SELECT if(i < 2, NULL, 30), 'f', 'Rome' FROM range(5) t(i)")
    people.execute("INSERT INTO people SELECT 50, 'm', 'Rome' FROM range(5)")
    search = {"recoding": "multidimensional", "labels": "tight", "accept": "a test"}
    wanted = policy(privacy={"k": 5}, search=search)
    with sqlanon.load(wanted, connection=people) as anonymizer:
        anonymizer.search().write(tmp_path / "result.json")
    with sqlanon.load(wanted, connection=people) as anonymizer:
        anonymizer.publish(tmp_path / "result.json")
    assert set(released(people)) == {("*", "f", "Rome"), ("[50, 55)", "m", "Rome")}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"publish": {"mode": "view"}}, "publish.mode: view does not go with multidimensional"),
        ({"publish": {"unseen": "top"}}, "publish.unseen: top does not go with multidimensional"),
    ],
)
def test_what_does_not_go_with_a_tree_is_refused_by_name(
    people: duckdb.DuckDBPyConnection, changes: dict[str, Any], words: str
) -> None:
    with (
        sqlanon.load(policy(**changes), connection=people) as anonymizer,
        pytest.raises(CompileError, match=words),
    ):
        anonymizer.publish(TREE)


def test_a_file_its_certificate_and_a_check(tmp_path: Path, run: Run) -> None:
    """Searched, chosen, published and checked by the commands."""
    lines = [",".join(str(cell or "") for cell in row) for row in rows()]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,town", *lines]) + "\n")
    wanted = policy() | {
        "source": {"file": "people.csv"},
        "publish": {"file": "released.csv"},
        "search": {"recoding": "multidimensional"},
        "privacy": {"k": 5},
    }
    (tmp_path / "policy.yml").write_text(json.dumps(wanted))
    quasi = ("--qi", "age", "--qi", "sex", "--qi", "town")
    for command in (
        ("search", "policy.yml", "--output", "result.json"),
        ("choose", "result.json", "--output", "scheme.json"),
        ("measure", "policy.yml", "--scheme", "scheme.json"),
        ("sql", "policy.yml", "--scheme", "scheme.json"),
        ("publish", "policy.yml", "--scheme", "scheme.json"),
        ("utility", "policy.yml", "--scheme", "scheme.json"),
        ("check", "released.csv", *quasi, "--k", "5"),
    ):
        done = run(*command)
        assert done.status == 0, (command, done.out, done.err)
    result = json.loads((tmp_path / "result.json").read_text())
    chosen = json.loads((tmp_path / "scheme.json").read_text())
    document = json.loads((tmp_path / "released.csv.certificate.json").read_text())
    (found,) = result["solutions"]
    assert result["recoding"] == chosen["recoding"] == document["scheme"]["recoding"]
    assert chosen["tree"] == found["tree"]
    assert document["scores"]["nwp"] == pytest.approx(found["nwp"])
    assert document["privacy"]["k"] == found["k"] >= 5


def test_a_tree_is_not_measured_on_the_source(people: duckdb.DuckDBPyConnection) -> None:
    with (
        sqlanon.load(policy(), connection=people) as anonymizer,
        pytest.raises(CompileError, match="without --on-source"),
    ):
        anonymizer.measure(TREE, on_source=True)


def test_replace(people: duckdb.DuckDBPyConnection) -> None:
    wanted = policy() | {"publish": {"mode": "replace"}}
    with sqlanon.load(wanted, connection=people) as anonymizer:
        anonymizer.publish(TREE)
    assert released(people, "people") == routed(rows())


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"method": "lattice"}, "goes with recoding global"),
        ({"patience": 3}, "goes with recoding global"),
        ({"effort": "slow"}, "effort"),
        ({"evaluations": 500}, "goes with recoding global"),
        ({"loss": "entropy"}, "is not a loss of recoding multidimensional; take nwp or glm"),
    ],
)
def test_keys_of_other_searches_are_refused(section: dict[str, Any], words: str) -> None:
    with pytest.raises(SqlanonError, match=words):
        sqlanon.load(policy(search={"recoding": "multidimensional", **section}))


def test_a_search_shows_loss_and_bias(people: duckdb.DuckDBPyConnection, run: Run) -> None:
    Path("people.csv").write_text(people.sql("SELECT * FROM people").df().to_csv(index=False))
    document = policy(source={"file": "people.csv"}, search={"recoding": "multidimensional"})
    Path("policy.yml").write_text(yaml.safe_dump(document))
    done = run("search", "policy.yml")
    assert done.status == 0, done.err
    assert re.search(r"\bNWP +NECD\b", done.out)
    assert "entropy" not in done.out  # a further measure that was not asked for


BOXES: dict[str, Any] = {"4": {"age": [20, 35]}, "10": {"town": ["Oslo"]}, "12": {"age": [40, 60]}}
BOXED = TREE | {"boxes": BOXES}
LABELS_OF_BOXES = LABELS | {
    4: ("[20, 35)", "f", "*"),
    10: ("[40, 60)", "*", "Oslo"),
    12: ("[40, 60)", "f", "{Rome, Milan}"),
}


def in_box(node: int, row: tuple[Any, ...]) -> bool:
    """By hand from BOXES."""
    age, _, town = row
    return {4: age < 35, 10: town == "Oslo", 12: age < 60}.get(node, True)


def boxed(table: Rows) -> tuple[Rows, Rows]:
    """The labels of the rows that lie in the box of their region, and the rows that do not."""
    names, found, outside = ("age", "sex", "town"), [], []
    for row in table:
        node = node_of(dict(zip(names, row, strict=True)), SPLITS)
        if in_box(node, row):
            found.append(LABELS_OF_BOXES[node])
        else:
            outside.append(row)
    return sorted(found, key=str), outside


def test_rows_outside_the_box_of_their_region_are_withheld(
    people: duckdb.DuckDBPyConnection,
) -> None:
    wanted, outside = boxed(rows())
    with sqlanon.load(policy(publish={"unseen": "leave_out"}), connection=people) as anonymizer:
        sql = anonymizer.sql(BOXED)
        found = anonymizer.publish(BOXED)
    assert_golden("tree/boxes", "\n".join(sql.splitlines()[2:]))  # without versions
    assert released(people) == wanted
    assert sorted(people.execute(sql).fetchall(), key=str) == wanted
    assert found.left_out == len(outside) > 0
    in_bergen = sum(town == "Bergen" and 40 <= age < 60 for age, _, town in outside)
    assert found.unseen == {"age": len(outside) - in_bergen, "sex": 0, "town": in_bergen}
    assert found.certificate.to_dict()["suppression"]["unseen"] == len(outside)


def test_rows_outside_their_box_are_an_error_unless_the_policy_says_otherwise(
    people: duckdb.DuckDBPyConnection,
) -> None:
    _, outside = boxed(rows())
    with (
        sqlanon.load(policy(), connection=people) as anonymizer,
        pytest.raises(UncoveredValueError) as refused,
    ):
        anonymizer.publish(BOXED)
    assert refused.value.values["town"] == ("Bergen",)
    ages = {str(age) for age, _, town in outside if town != "Bergen" or not 40 <= age < 60}
    assert set(refused.value.values["age"]) == ages
    assert people.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]


def test_long_lists_of_boxes_are_loaded(
    people: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MOST_OF_TREE", 3)
    with sqlanon.load(policy(publish={"unseen": "leave_out"}), connection=people) as anonymizer:
        anonymizer.publish(BOXED)
    assert released(people) == boxed(rows())[0]


def test_bounds_of_boxes_and_values_of_no_group(people: duckdb.DuckDBPyConnection) -> None:
    wanted = policy(publish={"unseen": "leave_out"})
    wanted["columns"]["age"]["output"] = "bounds"
    people.execute("INSERT INTO people VALUES (99, 'm', 'Paris')")
    with sqlanon.load(wanted, connection=people) as anonymizer:
        found = anonymizer.publish(BOXED)
    ends = {(low, high) for low, high, *_ in released(people)}
    assert ends == {(20, 35), (20, 40), (40, 60), (40, 80), (60, 80)}
    assert found.left_out == len(boxed(rows())[1]) + 1


def test_tight_labels_need_a_reason(people: duckdb.DuckDBPyConnection) -> None:
    """Ages have lines at 20, 40 and 60, so that a box to 35 is tight, and one to 60 is snapped."""
    ages = {"role": "quasi", "hierarchy": {"intervals": [20]}, "min_level": 0}
    wanted = policy()
    wanted["columns"]["age"] = ages
    snapped = {key: BOXES[key] for key in ("10", "12")}
    wanted["publish"]["unseen"] = "leave_out"
    with sqlanon.load(wanted, connection=people) as anonymizer:
        entry = anonymizer.publish(TREE | {"boxes": snapped}).certificate.to_dict()["scheme"]
        assert (entry["label_kind"], entry.get("accept")) == ("snapped", None)
        with pytest.raises(CompileError, match="tight labels, whose ends are values of single"):
            anonymizer.publish(BOXED)
    wanted["search"] = {"recoding": "multidimensional", "labels": "tight", "accept": "Ages known."}
    with sqlanon.load(wanted, connection=people) as anonymizer:
        document = anonymizer.publish(BOXED).certificate.to_dict()
    assert document["scheme"]["label_kind"] == "tight"
    assert document["scheme"]["accept"] == "Ages known."
    remains = " ".join(document["words"]["protection"][0]["remains"])
    assert "accepted: Ages known." in remains


@pytest.mark.parametrize("labels", ["snapped", "tight"])
def test_boxes_go_through_all_commands(tmp_path: Path, run: Run, labels: str) -> None:
    """Searched, measured, printed, published, and checked against the certificate."""
    lines = [",".join(str(cell or "") for cell in row) for row in rows()]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,town", *lines]) + "\n")
    accept = {"accept": "a test"} if labels == "tight" else {}
    wanted = policy(privacy={"k": 5}) | {
        "source": {"file": "people.csv"},
        "publish": {"file": "released.csv"},
        "search": {"recoding": "multidimensional", "labels": labels, **accept},
    }
    (tmp_path / "policy.yml").write_text(json.dumps(wanted))
    certificate = ("--certificate", "released.csv.certificate.json")
    for command in (
        ("search", "policy.yml", "--output", "result.json"),
        ("choose", "result.json", "--output", "scheme.json"),
        ("measure", "policy.yml", "--scheme", "scheme.json"),
        ("sql", "policy.yml", "--scheme", "scheme.json"),
        ("publish", "policy.yml", "--scheme", "scheme.json"),
        ("utility", "policy.yml", "--scheme", "scheme.json"),
        ("check", "released.csv", *certificate),
    ):
        done = run(*command)
        assert done.status == 0, (command, done.out, done.err)
    (found,) = json.loads((tmp_path / "result.json").read_text())["solutions"]
    chosen = json.loads((tmp_path / "scheme.json").read_text())
    document = json.loads((tmp_path / "released.csv.certificate.json").read_text())
    assert chosen["boxes"] == found["boxes"] != {}
    # Every edge of a declared range is a line, so that even tight labels end at lines here.
    assert document["scheme"]["label_kind"] == "snapped"
    assert document["scores"]["nwp"] == pytest.approx(found["nwp"])
    assert document["scores"]["necd"] == pytest.approx(found["necd"])


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"labels": "tight"}, "say why that is accepted"),
        ({"labels": "snapped", "accept": "so"}, "accept.*goes with labels: tight"),
        ({"labels": "loose"}, "labels"),
        ({"recoding": "global", "labels": "snapped"}, "goes with recoding multidimensional"),
    ],
)
def test_labels_that_a_policy_cannot_have(section: dict[str, Any], words: str) -> None:
    with pytest.raises(SqlanonError, match=words):
        sqlanon.load(policy(search={"recoding": "multidimensional", **section}))
