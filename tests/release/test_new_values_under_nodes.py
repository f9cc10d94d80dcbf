"""What new values belong to, under a hierarchy.

A step of the calendar holds all its days, seen or not. A node of any other hierarchy is true of
its leaves only.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import yaml
from command_line import Run, message

import sqlanon
from sqlanon.errors import SqlanonError

POLICY: dict[str, Any] = {
    "columns": {
        "birth": {
            "role": "quasi",
            "hierarchy": {"date": ["day", "month", "decade"]},
            "family": "full-domain",
        }
    },
    "one_row_per_person": True,
    "privacy": {"k": 1},
}
SEEN = [dt.date(1931, 5, 1), dt.date(1932, 5, 1), dt.date(1940, 1, 19), dt.date(1949, 3, 2)]


def policy_with(**keys: Any) -> dict[str, Any]:
    return {**POLICY, "columns": {"birth": {**POLICY["columns"]["birth"], **keys}}}


def scheme_of(births: list[Any], level: int = 2, **keys: Any) -> dict[str, Any]:
    """A level as a search on these birthdays would write it."""
    scheme = {"columns": {"birth": {"level": level}}}
    with sqlanon.load(policy_with(**keys), data=pd.DataFrame({"birth": births})) as anonymizer:
        columns = anonymizer.measure(scheme).to_dict()["columns"]
    known: list[str | None] = sorted({day.isoformat() for day in births if day is not None})
    return {"columns": columns, "domains": {"birth": known + [None] * (None in births)}}


def released(births: list[Any], scheme: dict[str, Any], **keys: Any) -> list[str | None]:
    with sqlanon.load(policy_with(**keys), data=pd.DataFrame({"birth": births})) as anonymizer:
        assert anonymizer.measure(scheme).k, "the same groups over the dates of today"
        found = anonymizer.publish(scheme).to_pandas()["birth"]
    return [None if pd.isna(each) else each for each in found]


@pytest.mark.parametrize("family", ["full-domain", "taxonomic"])
@pytest.mark.parametrize("form", ["case", "join"])
def test_a_new_birthday_of_a_known_decade(form: str, family: str) -> None:
    scheme = scheme_of(SEEN, family=family)
    # The forties begin on their first day, not on the first birthday that was seen.
    births = [*SEEN, dt.date(1940, 1, 1), dt.date(1949, 12, 31), dt.date(1939, 12, 31)]
    found = released(births, scheme, form=form, family=family)
    assert found == ["1930s"] * 3 + ["1940s"] * 4


@pytest.mark.parametrize("form", ["case", "join"])
@pytest.mark.parametrize(
    "new", [dt.date(1950, 1, 1), dt.date(1929, 12, 31), dt.date(1850, 1, 5), dt.date(2035, 1, 5)]
)
def test_a_birthday_of_no_released_decade_is_noticed(new: dt.date, form: str) -> None:
    scheme, policy = scheme_of(SEEN), policy_with(form=form)
    with sqlanon.load(policy, data=pd.DataFrame({"birth": [*SEEN, new]})) as anonymizer:
        for use in (anonymizer.publish, anonymizer.measure):
            with pytest.raises(SqlanonError, match="'birth' in 1 row") as raised:
                use(scheme)
            assert raised.value.exit_status == 4


@pytest.mark.parametrize("form", ["case", "join"])
def test_months_with_gaps_between_them(form: str) -> None:
    births = [dt.date(2020, month, 9) for month in (1, 2, 7, 12)] + [dt.date(2020, 2, 3)]
    scheme = scheme_of(births, 1)
    more = [dt.date(2020, 2, 29), dt.date(2020, 12, 31), dt.date(2020, 7, 1)]
    found = released([*births, *more], scheme, form=form)
    assert found == ["2020-01", *["2020-02"] * 3, *["2020-07"] * 2, *["2020-12"] * 2]
    policy, data = policy_with(form=form), pd.DataFrame({"birth": [dt.date(2020, 3, 1)]})
    with (
        sqlanon.load(policy, data=data) as anonymizer,
        pytest.raises(SqlanonError, match="'birth' in 1 row"),
    ):
        anonymizer.publish(scheme)


@pytest.mark.parametrize("form", ["case", "join"])
def test_single_dates_beside_months(form: str) -> None:
    """A group that is one date is that date and no other."""
    births = [dt.date(2020, 1, 9), dt.date(2020, 2, 3), dt.date(2020, 2, 4), dt.date(2020, 3, 1),
              dt.date(2020, 3, 5)]  # fmt: skip
    scheme = {"columns": {"birth": {"cuts": ["2020-02-03", "2020-03-01", "2020-03-05"]}},
              "domains": {"birth": [birth.isoformat() for birth in births]}}  # fmt: skip
    keys = {"form": form, "family": "taxonomic"}
    found = released([*births, dt.date(2020, 2, 29)], scheme, **keys)
    assert found == ["2020-01-09", *["2020-02"] * 3, "2020-03-01", "2020-03-05"]
    data = pd.DataFrame({"birth": [dt.date(2020, 1, 10), dt.date(2020, 3, 2)]})
    with (
        sqlanon.load(policy_with(**keys), data=data) as anonymizer,
        pytest.raises(SqlanonError, match="'birth' in 2 rows"),
    ):
        anonymizer.publish(scheme)


def test_null_and_timestamps() -> None:
    births = [
        dt.datetime(2020, 1, 9, 12),
        dt.datetime(2020, 1, 9, 13),
        dt.datetime(2020, 2, 3),
        None,
    ]
    scheme = scheme_of(births, 1)  # days
    more = [dt.datetime(2020, 1, 9, 0, 0, 0, 1), dt.datetime(2020, 2, 3, 23, 59, 59)]
    found = released([*births, *more], scheme)
    assert found == ["2020-01-09"] * 3 + ["2020-02-03"] * 2 + [None]


def test_weeks_of_two_years() -> None:
    births = [dt.date(2020, 12, 29), dt.date(2021, 1, 6)]
    keys = {"hierarchy": {"date": ["week"]}, "min_level": 1}
    scheme = scheme_of(births, 1, **keys)
    found = released([*births, dt.date(2021, 1, 3), dt.date(2021, 1, 4)], scheme, **keys)
    assert found == ["2020-W53"] * 2 + ["2021-W01"] * 2


@pytest.mark.parametrize("mode", ["view", "table"])
def test_no_birthday_is_listed(tmp_path: Path, run: Run, mode: str) -> None:
    """Neither in the definition of a view, which others can read, nor in a certificate."""
    days = [dt.date(1950, 1, 2) + dt.timedelta(i * 37) for i in range(400)]
    with duckdb.connect(tmp_path / "w.duckdb") as connection:
        connection.execute("CREATE TABLE people (birth DATE)")
        connection.executemany("INSERT INTO people VALUES (?)", [[day] for day in days])
    policy = {
        **policy_with(),
        "source": {"connection": "duckdb:///w.duckdb", "table": "people"},
        "publish": {"to": "anon", "mode": mode},
    }
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    scheme = json.dumps(scheme_of(days))
    (tmp_path / "scheme.json").write_text(scheme, encoding="utf-8")
    done = run("publish", "policy.yml", "--scheme", "scheme.json")
    assert done.status == 0, done.err
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.glob("anon.*.json")]
    with duckdb.connect(tmp_path / "w.duckdb") as connection:
        texts += [str(row) for row in connection.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [day for day in days if any(day.isoformat() in text for text in texts)]
    with duckdb.connect(tmp_path / "w.duckdb") as connection:
        connection.execute("INSERT INTO people VALUES (DATE '1955-05-05')")
    assert run("publish", "policy.yml", "--scheme", "scheme.json").status == 0


CITIES = "Rome;Italy;*\nMilan;Italy;*\nOslo;Norway;*\n"


def test_a_node_of_another_hierarchy_has_its_leaves_only(tmp_path: Path, run: Run) -> None:
    (tmp_path / "cities.csv").write_text(CITIES, encoding="utf-8")
    (tmp_path / "people.csv").write_text("city\nRome\nMilan\nBari\n", encoding="utf-8")
    policy = {
        **POLICY,
        "source": {"file": "people.csv"},
        "columns": {"city": {"role": "quasi", "hierarchy": "cities.csv"}},
        "publish": {"file": "out.csv"},
    }
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    (tmp_path / "scheme.json").write_text('{"columns": {"city": {"level": 1}}}', encoding="utf-8")
    assert "'city' in 1 row" in message(4, run("publish", "policy.yml", "--scheme", "scheme.json"))
