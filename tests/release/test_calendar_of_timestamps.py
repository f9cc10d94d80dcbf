"""Steps of the calendar over timestamps: with a time zone, and at the ends of a type."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.errors import CompileError, SchemeError, UncoveredValueError

FORMS = pytest.mark.parametrize("form", ["case", "join"])


def table_of(moments: list[str], type_: str = "TIMESTAMPTZ") -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Europe/Berlin'")
    connection.execute(f"CREATE TABLE visits (ts {type_})")
    connection.executemany("INSERT INTO visits VALUES (?)", [[moment] for moment in moments])
    return connection


def policy_of(steps: list[str], form: str = "auto", **publish: Any) -> dict[str, Any]:
    column = {"role": "quasi", "hierarchy": {"date": steps}, "family": "full-domain", "form": form}
    return {
        "source": {"table": "visits"},
        "columns": {"ts": column},
        "one_row_per_person": True,
        "privacy": {"k": 1},
        "publish": {"to": "anon", **publish},
    }


def counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    rows = connection.sql("SELECT ts, count(*) FROM anon GROUP BY 1 ORDER BY 1").fetchall()
    return dict(rows)


@FORMS
@pytest.mark.parametrize("publish", [{}, {"unseen": "leave_out"}])
@pytest.mark.parametrize(
    ("moments", "steps", "expected"),
    [
        (["2020-07-15 12:00", "2020-12-31 23:30", "2021-01-15 12:00"], ["month", "year"],
         {"2020": 2, "2021": 1}),
        (["2020-01-15 12:00", "2020-12-31 23:30", "2021-07-15 12:00"], ["month", "year"],
         {"2020": 2, "2021": 1}),
        (["2021-03-02 10:00", "2021-03-05 10:00", "2021-04-01 00:30", "2021-04-10 10:00"],
         ["month"], {"2021-03": 2, "2021-04": 2}),
        (["2021-10-02 10:00", "2021-10-05 10:00", "2021-10-31 23:30", "2021-11-10 10:00"],
         ["month"], {"2021-10": 3, "2021-11": 1}),
    ],
)  # fmt: skip
def test_daylight_saving(
    moments: list[str],
    steps: list[str],
    expected: dict[str, int],
    publish: dict[str, Any],
    form: str,
) -> None:
    connection = table_of(moments)
    with sqlanon.load(policy_of(steps, form, **publish), connection=connection) as anonymizer:
        anonymizer.publish({"columns": {"ts": {"level": len(steps)}}})
    assert counts(connection) == expected


def test_a_view_does_not_list_moments() -> None:
    """With a time zone a month is the list of the moments seen, and readers see a view's text."""
    connection = table_of(["2021-03-02 10:00", "2021-03-02 11:00", "2021-04-02 10:00",
                           "2021-04-02 11:00"])  # fmt: skip
    policy = policy_of(["month"], mode="view")
    with (
        sqlanon.load(policy, connection=connection) as anonymizer,
        pytest.raises(CompileError, match=r"'ts': the text of the view.* under '2021-03'"),
    ):
        anonymizer.publish({"columns": {"ts": {"level": 1}}})


@FORMS
@pytest.mark.parametrize(
    ("last", "step", "name"),
    [
        ("2262-01-01", "decade", "2260s"),
        ("2262-04-11", "day", "2262-04-11"),
        ("2262-04-11 23:00:00", "month", "2262-04"),
        ("1677-10-01", "decade", "1670s"),
        ("1677-09-22", "month", "1677-09"),
        ("1690-01-01", "century", "1600-1699"),
    ],
)
def test_steps_that_end_beyond_nanoseconds(last: str, step: str, name: str, form: str) -> None:
    connection = table_of(["2020-01-01", "2020-01-01 01:00:00", last], "TIMESTAMP_NS")
    with sqlanon.load(policy_of([step], form), connection=connection) as anonymizer:
        anonymizer.publish({"columns": {"ts": {"level": 1}}})
    assert counts(connection)[name] == 1


@FORMS
def test_nanoseconds_within_their_range_still_go_by_steps(form: str) -> None:
    moments = ["2020-01-01", "2020-01-02", "2262-03-30", "1677-10-01"]
    connection = table_of(moments, "TIMESTAMP_NS")
    with sqlanon.load(policy_of(["month"], form), connection=connection) as anonymizer:
        sql = anonymizer.sql({"columns": {"ts": {"level": 1}}})
    assert "2262-04-01" in sql
    assert "2262-03-30" not in sql


def test_a_file_of_timestamps_without_zone() -> None:
    connection = table_of(["2020-07-15 12:00Z", "2020-08-15 12:00Z", "2021-01-15 12:00Z"])
    connection.execute("SET TimeZone = 'UTC'")
    known = ["2020-07-15 12:00:00", "2020-08-15 12:00:00", "2021-01-15 12:00:00"]
    scheme = {"columns": {"ts": {"cuts": known[2:]}}, "domains": {"ts": [known[0], known[2]]}}
    with sqlanon.load(policy_of(["month", "year"]), connection=connection) as anonymizer:
        for use in (anonymizer.measure, anonymizer.publish):
            with pytest.raises(UncoveredValueError, match="'ts' in 1 row"):
                use(scheme)
        with pytest.raises(SchemeError, match=r"left ends .*2021-01-15 12:00:00\+00:00"):
            anonymizer.measure({**scheme, "domains": {"ts": known}})
