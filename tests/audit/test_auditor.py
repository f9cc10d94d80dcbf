"""The audit, against a calculation by hand, a twin in pandas, and pycanon."""

from __future__ import annotations

import math

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from audit_oracle import Case, cases, twin
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from pycanon.anonymity.utils import aux_anonymity

from sqlanon.audit.audit_result import Audit, CheckResult, KAnonymity, Spread
from sqlanon.audit.auditor import audit, smallest_classes
from sqlanon.audit.column_findings import rows_unique_over
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source
from sqlanon.errors import CheckError, EngineError, SubjectError


def audited(table: pa.Table, *quasi: str, **options: object) -> Audit:
    source = open_source(data=table)
    try:
        return audit(source, quasi, **options)  # type: ignore[arg-type]
    finally:
        source.engine.close()


def sizes_of(spread: Spread) -> dict[int, tuple[int, int]]:
    return {each.size: (each.classes, each.rows) for each in spread.sizes}


# By hand: the classes over a are x (3 rows of Ann, Ann, Bob), y (Ann), NULL (Bob, Cid).
VISITS = pa.table(
    {
        "a": ["x", "x", "x", "y", None, None],
        "who": ["Ann", "Ann", "Bob", "Ann", "Bob", "Cid"],
        "ill": ["flu", "flu", "flu", None, None, "flu"],
    }
)


def test_rows_by_hand() -> None:
    found = audited(VISITS, "a", sensitive=["ill"], threshold=0.4)
    assert (found.rows, found.people, found.k, found.classes) == (6, 6, 1, 3)
    assert sizes_of(found.by_rows) == {1: (1, 1), 2: (1, 2), 3: (1, 3)}
    assert found.by_people is None
    assert (found.spread.largest, found.spread.average) == (3, 2.0)
    assert (found.spread.unique.classes, found.spread.unique.rows) == (1, 1)
    risk = found.risk
    assert risk.highest == 1.0
    assert risk.average == pytest.approx((3 * 1 / 3 + 2 * 1 / 2 + 1) / 6)
    assert risk.above == pytest.approx(3 / 6)  # 1 and 1/2 are above 0.4, 1/3 is not
    assert risk.marketer == pytest.approx(3 / 6)
    (ill,) = found.sensitive
    assert (ill.column, ill.largest_share, ill.fewest_values) == ("ill", 1.0, 1)


def test_people_by_hand() -> None:
    found = audited(VISITS, "a", subject="who", sensitive=["ill"], threshold=0.5)
    assert (found.rows, found.people, found.k, found.classes) == (6, 3, 1, 3)
    assert sizes_of(found.spread) == {1: (1, 1), 2: (2, 5)}
    assert sizes_of(found.by_rows) == {1: (1, 1), 2: (1, 2), 3: (1, 3)}
    # The smallest class of Ann has one person, those of Bob and Cid have two.
    assert found.risk.average == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert found.risk.above == pytest.approx(1 / 3)
    assert found.risk.marketer == 1.0
    assert found.spread.average == pytest.approx(5 / 3)


def test_a_value_that_everyone_in_a_class_has() -> None:
    # Ann has flu and gout, Bob has flu: 2 of 2 people have flu, though only 2 of 3 rows do.
    table = pa.table({"a": [1, 1, 1], "who": [1, 1, 2], "ill": ["flu", "gout", "flu"]})
    assert audited(table, "a", sensitive=["ill"]).sensitive[0].largest_share == 2 / 3
    (ill,) = audited(table, "a", subject="who", sensitive=["ill"]).sensitive
    assert (ill.largest_share, ill.fewest_values) == (1.0, 2)


@given(case=cases(), threshold=st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 1.0]))
@settings(max_examples=250, deadline=None)
def test_against_the_twin(case: Case, threshold: float) -> None:
    expected = twin(case, threshold)
    found = audited(
        case.table,
        *case.quasi,
        subject=case.subject,
        sensitive=case.sensitive,
        threshold=threshold,
    )
    assert (found.rows, found.people) == (expected.rows, expected.people)
    assert sizes_of(found.by_rows) == expected.by_rows
    assert sizes_of(found.spread) == expected.by_people
    assert found.k == min(expected.by_people, default=0)
    assert found.risk.average == pytest.approx(expected.average_risk)
    assert found.risk.above == pytest.approx(expected.above)
    assert found.risk.highest == (1 / found.k if found.k else 0.0)
    assert {s.column: (s.largest_share, s.fewest_values) for s in found.sensitive} == (
        expected.sensitive
    )


@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_the_listed_classes_are_the_smallest(case: Case) -> None:
    source = open_source(data=case.table)
    listing = smallest_classes(source, case.quasi, subject=case.subject)
    sizes = sorted(
        n for n, (classes, _) in twin(case, 0.2).by_people.items() for _ in range(classes)
    )
    assert [each.people for each in listing.classes] == sizes[:10]
    assert len(listing.samples) == min(10, sum(each.rows for each in listing.classes))
    with duckdb.connect() as connection:
        connection.register("data", case.table)
        rows = connection.sql("SELECT COLUMNS(*)::TEXT FROM data").fetchall()
    assert {tuple(sample.values()) for sample in listing.samples} <= set(rows)


# pycanon is an audit by other people. It groups with pandas, which leaves out rows where a
# quasi-identifier is missing; here NULL is a value like any other, as in SQL's GROUP BY.
# pandas warns of what pycanon does with a single column.

IGNORE = "ignore:In a future version, the keys of `groups`"


@pytest.mark.filterwarnings(IGNORE)
@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_against_pycanon(case: Case) -> None:
    keys = [case.table[n].to_pylist() for n in [*case.quasi, *case.sensitive]]
    texts = [["missing" if c is None else repr(c) for c in column] for column in keys]
    frame = pd.DataFrame({f"c{i}": column for i, column in enumerate(texts)})
    quasi = list(frame.columns[: len(case.quasi)])
    if not len(frame):
        return
    found = audited(pa.Table.from_pandas(frame), *quasi, sensitive=frame.columns[len(quasi) :])
    assert found.k == anonymity.k_anonymity(frame, quasi)
    theirs = sorted(len(each) for each in aux_anonymity.get_equiv_class(frame, quasi))
    assert sorted(s.size for s in found.sizes for _ in range(s.classes)) == theirs
    for each in found.sensitive:
        assert each.fewest_values == anonymity.l_diversity(frame, quasi, [each.column])
        alpha, _ = anonymity.alpha_k_anonymity(frame, quasi, [each.column])
        assert each.largest_share == pytest.approx(alpha)


@pytest.mark.filterwarnings(IGNORE)
def test_where_pycanon_differs() -> None:
    frame = pd.DataFrame({"a": ["x", "x", None]})
    assert anonymity.k_anonymity(frame, ["a"]) == 2  # the row without a value is left out
    assert audited(pa.Table.from_pandas(frame), "a").k == 1  # and here it is alone


# The issue's own example.


def test_two_thousand_people_with_six_rows_each() -> None:
    """Every class has six rows of one person: k is 6 in rows, and 1 in people."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i // 6 AS person, i // 6 AS zip FROM range(12000) r(i)"
        )
        source = open_source(connection=connection, table="visits")
        rows, people = audit(source, ["zip"]), audit(source, ["zip"], subject="person")
    assert CheckResult(rows, [KAnonymity(6)]).holds
    assert (people.rows, people.people, people.k) == (12_000, 2_000, 1)
    result = CheckResult(people, [KAnonymity(2)])
    assert not result.holds
    assert result.violations == (
        "k is 1, required 2: 2,000 of 2,000 classes have fewer than 2 people; "
        "12,000 of 12,000 rows are in them",
    )


# What must never join two classes.


@pytest.mark.parametrize("setting", ["", "SET default_collation = 'nocase'"])
def test_a_collation_joins_no_classes(setting: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(setting or "SELECT 1")
        connection.execute("CREATE TABLE t (a VARCHAR COLLATE NOCASE.NOACCENT, who VARCHAR)")
        connection.execute("INSERT INTO t VALUES ('A', 'x'), ('a', 'X'), ('ä', 'x')")
        assert connection.execute("SELECT count(DISTINCT a) FROM t").fetchall() == [(1,)]
        source = open_source(connection=connection, table="t")
        assert sizes_of(audit(source, ["a"]).spread) == {1: (3, 3)}
        people = audit(source, ["a"], subject="who")
        assert (people.people, people.classes) == (1 if setting else 2, 3)


def test_a_collation_joins_people() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (a INTEGER, who VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (1, 'A'), (1, 'b'), (2, 'B')")
        connection.execute("CREATE TABLE staged AS SELECT who, a FROM t ORDER BY 1")
        for table in ("t", "staged"):
            source = open_source(connection=connection, table=table)
            found = audit(source, ["a"], subject="who", sensitive=["a"])
            assert sizes_of(found.spread) == {1: (1, 1), 2: (1, 3)}
            assert found.people == 2
            assert rows_unique_over(source, ["a"], subject="who") == 1


@pytest.mark.parametrize("name", ["classes", "members", "counted", "source", "q0", "people"])
def test_a_table_may_be_called_anything(name: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f'CREATE TABLE "{name}" AS SELECT 1 AS "{name}", 2 AS q1, 3 AS person')
        for source in (
            open_source(connection=connection, table=name),
            open_source(connection=connection, query=f'SELECT * FROM "{name}"'),
        ):
            found = audit(source, [name, "q1"], subject="person", sensitive=["person"])
            assert (found.k, found.classes) == (1, 1)
            assert smallest_classes(source, [name]).samples == (
                {name: "1", "q1": "2", "person": "3"},
            )


def test_an_empty_table() -> None:
    empty = pa.table({"a": pa.array([], pa.int64()), "who": pa.array([], pa.string())})
    for subject in (None, "who"):
        found = audited(empty, "a", subject=subject, sensitive=["a"])
        assert (found.rows, found.people, found.k, found.classes) == (0, 0, 0, 0)
        assert (found.risk.highest, found.risk.marketer, found.spread.average) == (0, 0, 0)
        result = CheckResult(found, [KAnonymity(1)])
        assert result.violations == ("the table has no rows, so k = 1 cannot be shown",)
        assert str(result)


@pytest.fixture
def visits() -> Source:
    return open_source(data=VISITS)


def test_what_is_refused(visits: Source) -> None:
    with pytest.raises(CheckError, match="at least one quasi-identifier"):
        audit(visits, [])
    with pytest.raises(EngineError, match=r"no column 'A'\. Did you mean 'a'"):
        audit(visits, ["A"])
    with pytest.raises(EngineError, match=r"no column 'whom'\. Did you mean 'who'"):
        audit(visits, ["a"], subject="whom")
    with pytest.raises(EngineError, match="no column 'sick'"):
        audit(visits, ["a"], sensitive=["sick"])
    with pytest.raises(CheckError, match=r"the threshold is 1\.5; give a risk from 0 to 1"):
        audit(visits, ["a"], threshold=1.5)
    with pytest.raises(CheckError, match="the threshold is nan"):
        audit(visits, ["a"], threshold=math.nan)
    with pytest.raises(CheckError, match="k is 0; give a whole number of at least 1"):
        KAnonymity(0)


def test_a_row_must_say_whose_it_is() -> None:
    table = pa.table({"a": [1, 1, 1], "who": ["Ann", None, None]})
    with pytest.raises(SubjectError, match="subject column 'who' is NULL in 2 rows, so nobody"):
        audited(table, "a", subject="who")


def test_a_type_that_cannot_be_audited() -> None:
    with pytest.raises(CheckError, match=r"column 'a' has type INTEGER\[\], which cannot"):
        audited(pa.table({"a": pa.array([[1], [2]], pa.list_(pa.int32()))}), "a")


def test_it_prints_well() -> None:
    lines = str(audited(VISITS, "a", "a", subject="who", sensitive=["ill"])).splitlines()
    words = [line.split() for line in lines]
    assert ["k", "1", "people", "in", "the", "smallest", "class"] in words
    assert ["people", "3", "distinct", "values", "of", "'who'"] in words
    # By hand: everyone has flu in a row of x, Ann alone has NULL in y; in all three people have
    # flu and two have NULL. y is farthest from that: 3/5 away, and NULL gains (1 - 2/5) / (2/5).
    assert lines[-1] == (
        "ill: distinct l 1, entropy l 1, recursive c unbounded, t, equal 0.6, beta 1.5, "
        "delta unbounded, largest share 100.00%"
    )
