"""The scores of a certificate are counted on the release; they are those of the search."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from sqlglot import exp

import sqlanon
from sqlanon.domain import Generalized
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.presentation import Mode, Unseen
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.errors import PublishError
from sqlanon.release.order import Order
from sqlanon.release.pipeline import publish

NAMES = ("nwp", "necd", "glm", "glm_share", "dcn", "ce", "ach", "pref_dev")
COLUMNS: dict[str, dict[str, Any]] = {
    "town": {"role": "quasi"},
    "age": {"role": "quasi", "range": [0, 80], "granularity": 10, "weight": 3},
    "floor": {"role": "quasi", "null_label": "none"},
    "owns": {"role": "label"},
}
SCHEMES: dict[str, dict[str, Any]] = {
    "all of one column": {
        "town": {"groups": [["Bonn", "Oslo", "Rome"]]},
        "age": {"cuts": [20, 60], "null": "apart"},
        "floor": {"cuts": [2], "null": "apart"},
    },
    "values kept": {
        "town": {"groups": [["Bonn"], ["Oslo"], ["Rome"]]},
        "age": {"cuts": [], "null": "merged"},
        "floor": {"cuts": [1, 2, 3], "null": "apart"},
    },
    "everything hidden": {
        "town": {"groups": [["Bonn", "Oslo", "Rome"]]},
        "age": {"cuts": [], "null": "merged"},
        "floor": {"cuts": [], "null": "merged"},
    },
}
SUPPRESSIONS: dict[str, dict[str, Any]] = {
    "none": {"limit": 0.0},
    "left out": {"limit": 1.0},
    "marked": {"limit": 1.0, "rows": "mark", "marker": "gone"},
}


def people() -> pd.DataFrame:
    rng = random.Random(3)
    rows = 200
    return pd.DataFrame(
        {
            "who": [rng.randrange(60) for _ in range(rows)],
            "town": [rng.choice(["Rome", "Oslo", "Bonn"]) for _ in range(rows)],
            "age": pd.array([rng.choice([*range(80), None]) for _ in range(rows)], "Int64"),
            "floor": pd.array([rng.choice([0, 1, 2, 3, None]) for _ in range(rows)], "Int64"),
            "owns": [rng.choice(["yes", "no", "No", None]) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("whose", ["rows", "people"])
@pytest.mark.parametrize("suppression", SUPPRESSIONS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_scores_of_search_and_release_agree(scheme: str, suppression: str, whose: str) -> None:
    subject = {"subject": "who"} if whose == "people" else {"one_row_per_person": True}
    policy = {
        "columns": COLUMNS,
        "others": "drop",
        **subject,
        "privacy": {"k": 1 if suppression == "none" else 15},
        "suppression": SUPPRESSIONS[suppression],
        "preference": {"nwp": 0.2, "necd": 0.5},
    }
    with sqlanon.load(policy, data=people()) as anonymizer:
        measured = anonymizer.measure({"columns": SCHEMES[scheme]})
        certified = anonymizer.publish(measured).certificate.to_dict()
    for name in NAMES:
        assert certified["scores"][name] == pytest.approx(measured.scores[name]), name
    assert certified["suppression"]["rows"] == measured.scores["suppressed"]
    if suppression != "none" and scheme != "everything hidden":
        assert measured.scores["suppressed"]


def by_hand() -> dict[str, Any]:
    """Ten rows: A and B four times each, C twice; every value a group, k = 3, so C must go.

    Town and n are hidden whole: their label is `*`.
    """
    frame = pd.DataFrame({"town": [*"XYXYXYXYXY"], "class": [*"AAAABBBBCC"], "n": [1, 2] * 5})
    policy = {
        "columns": {"town": {"role": "quasi"}, "class": {"role": "quasi"}, "n": {"role": "quasi"}},
        "one_row_per_person": True,
        "privacy": {"k": 3},
        "suppression": {"limit": 0.4},
    }
    scheme = {
        "columns": {"town": {"level": 1}, "class": {"level": 0}, "n": {"cuts": []}},
    }
    with sqlanon.load(policy, data=frame) as anonymizer:
        document: dict[str, Any] = anonymizer.publish(scheme).certificate.to_dict()
    return document


def test_left_out_by_hand() -> None:
    """Town and n lose all ten rows, class the two of C: GLM 22 of 30. DCN 4² + 4² + 10 · 2."""
    document = by_hand()
    assert document["scores"]["glm"] == pytest.approx(22)
    assert document["scores"]["nwp"] == pytest.approx(22 / 30)
    assert (document["scores"]["dcn"], document["scores"]["necd"]) == (52, 0)
    assert (document["suppression"]["rows"], document["release"]["rows"]) == (2, 8)
    assert shares(document) == {
        ("town", "*"): (10, 2), ("n", "*"): (10, 2),
        ("class", "A"): (4, 0), ("class", "B"): (4, 0), ("class", "C"): (2, 2),
    }  # fmt: skip


def test_errors_by_hand() -> None:
    """Of A, three of four rows have one label, of B two; both rows of the rest are left out."""
    frame = pd.DataFrame({"class": [*"AAAABBBBCC"], "most": [*"xxxyxyyxxx"]})
    policy = {
        "columns": {"class": {"role": "quasi"}, "most": {"role": "label"}},
        "one_row_per_person": True,
        "privacy": {"k": 3},
        "suppression": {"limit": 0.4},
    }
    with sqlanon.load(policy, data=frame) as anonymizer:
        document = anonymizer.publish({"columns": {"class": {"level": 0}}}).certificate.to_dict()
        shared = anonymizer.publish({"columns": {"class": {"level": 0}}}).certificate
    assert document["scores"]["ce"] == pytest.approx((1 + 2 + 2) / 10)
    assert shared.to_dict(shareable=True)["scores"]["ce"] == document["scores"]["ce"]
    assert by_hand()["scores"]["ce"] is None  # it has no label


def test_labels_that_a_collation_takes_for_one_are_two(tmp_path: Path) -> None:
    file = tmp_path / "town.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE people (town VARCHAR, owns VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO people VALUES ('A', 'no'), ('A', 'NO'), ('A', 'no')")
    policy = {
        "source": {"connection": f"duckdb:///{file}", "table": "people"},
        "columns": {"town": {"role": "quasi"}, "owns": {"role": "label"}},
        "one_row_per_person": True,
        "privacy": {"k": 3},
        "publish": {"to": "released"},
    }
    with sqlanon.load(policy) as anonymizer:
        found = anonymizer.search(method="optimal").solution
        assert found is not None
        released = anonymizer.publish(found, certificates=tmp_path).certificate.to_dict()
    assert released["scores"]["ce"] == pytest.approx(1 / 3) == found.ce


def shares(document: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    found = document["suppression"]["subgroups"]
    return {(s["column"], s["label"]): (s["rows"], s["left_out"]) for s in found}


def test_marked_rows_count_as_suppressed() -> None:
    """The four values that occur once are marked; the marked rows are no class of the scores."""
    frame = pd.DataFrame({"town": [*"XY" * 5], "n": [1] * 3 + [2] * 3 + [3, 4, 5, 6]})
    policy = {
        "columns": {"town": {"role": "quasi"}, "n": {"role": "quasi"}},
        "one_row_per_person": True,
        "privacy": {"k": 3},
        "suppression": {"limit": 0.4, "rows": "mark", "marker": "gone"},
    }
    scheme = {"columns": {"town": {"level": 1}, "n": {"level": 0}}}
    with sqlanon.load(policy, data=frame) as anonymizer:
        release = anonymizer.publish(scheme)
        measured = anonymizer.measure(scheme)
    released = release.to_pandas()
    assert sorted(released["n"]) == ["1"] * 3 + ["2"] * 3 + ["gone"] * 4
    document = release.certificate.to_dict()
    # Class sizes 3 and 3, four rows suppressed: 9 + 9 + 10 · 4, and GLM 10 + 4.
    assert (document["scores"]["dcn"], document["scores"]["necd"]) == (58, 0)
    assert document["scores"]["glm"] == pytest.approx(14)
    assert (measured.dcn, measured.necd) == (58, 0)
    assert measured.glm == pytest.approx(14)
    assert document["suppression"]["rows"] == 4
    assert shares(document) == {
        ("town", "*"): (10, 4), ("n", "1"): (3, 0), ("n", "2"): (3, 0),
        **{("n", str(n)): (1, 1) for n in (3, 4, 5, 6)},
    }  # fmt: skip


def test_marked_rows_stay_within_the_limit() -> None:
    """Four of ten rows would be marked, and 0.3 allows three."""
    frame = pd.DataFrame({"n": [1] * 3 + [2] * 3 + [3, 4, 5, 6]})
    policy = {
        "columns": {"n": {"role": "quasi"}},
        "one_row_per_person": True,
        "privacy": {"k": 3},
        "suppression": {"limit": 0.3, "rows": "mark"},
    }
    with sqlanon.load(policy, data=frame) as anonymizer:
        assert anonymizer.measure({"columns": {"n": {"level": 0}}}).feasible is False
        with pytest.raises(sqlanon.SqlanonError, match="4 marked, at most 3 may be"):
            anonymizer.publish({"columns": {"n": {"level": 0}}})


def test_the_limit_is_the_decimal_number_that_was_written() -> None:
    """0.29 of 100 rows is 29, although the nearest binary number is a little less."""
    frame = pd.DataFrame({"n": [0] * 71 + list(range(1, 30))})
    policy = {
        "columns": {"n": {"role": "quasi"}},
        "one_row_per_person": True,
        "privacy": {"k": 2},
        "suppression": {"limit": 0.29},
    }
    with sqlanon.load(policy, data=frame) as anonymizer:
        assert anonymizer.publish({"columns": {"n": {"level": 0}}}).left_out == 29


def test_new_values_do_not_widen_the_limit() -> None:
    """Two rows are new in both columns; they are two, so the two small classes stay too many."""
    known = [("a", "x")] * 3 + [("b", "y"), ("c", "x")]
    frame = pd.DataFrame([*known, ("new", "new"), ("new", "new")], columns=["p", "q"])
    quasi = {"p": {"role": "quasi", "values": [*"abc"]}, "q": {"role": "quasi", "values": [*"xy"]}}
    scheme = {"columns": {"p": {"level": 0}, "q": {"level": 0}}}
    policy = {
        "columns": quasi,
        "one_row_per_person": True,
        "privacy": {"k": 3},
        "suppression": {"limit": 0.01},
        "publish": {"unseen": "leave_out"},
    }
    with (
        sqlanon.load(policy, data=frame) as anonymizer,
        pytest.raises(sqlanon.SqlanonError, match="4 are left out, at most 2 may be"),
    ):
        anonymizer.publish(scheme)
    policy["suppression"] = {"limit": 0.3}
    with sqlanon.load(policy, data=frame) as anonymizer:
        release = anonymizer.publish(scheme)
    suppression = release.certificate.to_dict()["suppression"]
    assert (release.rows, suppression["rows"], suppression["unseen"]) == (3, 2, 2)


def test_a_view_leaves_unseen_values_out_before_it_counts_classes() -> None:
    """Two rows are unseen, and one is in a class that is too small: only that is suppressed."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(['A', 'A', 'B', 'X', 'Y']) AS town")
        source = open_source(connection=connection, table="t")
        column = Column(ValueDomain("town", Kind.TEXT, ("A", "B")))
        item = Generalized(column, Partition.atoms(2), "VARCHAR")
        order = Order(
            source.relation, (item,), k=2, suppress=True, limit=0.2, unseen=Unseen.LEAVE_OUT,
            mode=Mode.VIEW, target=exp.table_("shown", quoted=True),
        )  # fmt: skip
        assert isinstance(source.engine, DuckDBEngine)
        release = publish(order, source.engine)
    suppression = release.certificate.to_dict()["suppression"]
    assert (release.rows, suppression["rows"], suppression["unseen"]) == (2, 1, 2)
    groups = [(s["label"], s["rows"], s["left_out"]) for s in suppression["subgroups"]]
    assert groups == [("A", 2, 0), ("B", 1, 1)]


def with_collated_ids(people: str, k: int, suppression: dict[str, Any]) -> dict[str, Any]:
    """The certificate for people of towns, whose ids are the same in both cases."""
    policy = {
        "source": {"table": "t"},
        "columns": {"town": {"role": "quasi"}},
        "others": "drop",
        "subject": "id",
        "privacy": {"k": k},
        "suppression": suppression,
        "publish": {"to": "r"},
    }
    scheme = {"columns": {"town": {"level": 0}}}
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (town VARCHAR, id VARCHAR COLLATE NOCASE)")
        connection.execute(f"INSERT INTO t VALUES {people}")
        with sqlanon.load(policy, connection=connection) as anonymizer:
            found: dict[str, Any] = anonymizer.publish(scheme).certificate.to_dict()
    return found


def test_people_under_a_collation_are_not_counted_twice() -> None:
    with pytest.raises(PublishError):
        with_collated_ids("('A', 'a'), ('A', 'A'), ('A', 'b')", 3, {"limit": 0.0})


def test_marked_people_under_a_collation() -> None:
    """Of B and C are a and A, who are one, and b: two people are marked."""
    people = "('A', 'a'), ('A', 'b'), ('A', 'c'), ('B', 'a'), ('B', 'A'), ('C', 'b')"
    suppression = {"limit": 1.0, "rows": "mark", "marker": "gone"}
    document = with_collated_ids(people, 2, suppression)
    assert (document["scores"]["necd"], document["scores"]["dcn"]) == (0, 3 * 3 + 6 * 3)
    assert document["suppression"]["rows"] == 3
