"""A lone birthday of its decade, through the public API: what a release calls it."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import SqlanonError

LONE = dt.date(1931, 5, 1)
BIRTHS = [LONE, dt.date(1940, 1, 19), dt.date(1949, 3, 2), dt.date(1985, 8, 9), dt.date(1988, 8, 9)]
LEVEL_1 = {"columns": {"birth": {"level": 1}}}
DECADES = ["1930s", "1940s", "1940s", "1980s", "1980s"]


def policy(**column: Any) -> dict[str, Any]:
    birth = {"role": "quasi", "hierarchy": {"date": ["day", "decade"]}, **column}
    return {"columns": {"birth": birth}, "one_row_per_person": True, "privacy": {"k": 1}}


def released(
    scheme: dict[str, Any], births: list[dt.date] = BIRTHS, **column: Any
) -> tuple[list[Any], list[Any]]:
    """The released column, sorted, and the certificate's labels."""
    data = pd.DataFrame({"birth": births})
    with sqlanon.load(policy(**column), data=data) as anonymizer:
        publication = anonymizer.publish(scheme)
        facts = publication.certificate.to_dict()["columns"]
        return sorted(publication.to_pandas()["birth"].tolist()), facts[0]["labels"]


@pytest.mark.parametrize("family", ["full-domain", "taxonomic", "contiguous"])
@pytest.mark.parametrize("form", ["case", "join"])
@pytest.mark.parametrize("least", [0, 1])
def test_a_level_shows_no_birthday(family: str, form: str, least: int) -> None:
    found = released(LEVEL_1, family=family, form=form, min_level=least)
    assert found == (DECADES, ["1930s", "1940s", "1980s"])


def test_every_birthday_alone_in_its_decade() -> None:
    """The level has the groups of the values, so the column could keep them: it must not."""
    births = [LONE, dt.date(1940, 1, 19), dt.date(1985, 8, 9)]
    assert released(LEVEL_1, births, min_level=1)[0] == ["1930s", "1940s", "1980s"]
    assert released(LEVEL_1, births)[0] == births


@pytest.mark.parametrize(("least", "label"), [(1, "1930s"), (2, "*")])
def test_one_birthday_in_all(least: int, label: str) -> None:
    scheme = {"columns": {"birth": {"level": least}}}
    assert released(scheme, [LONE, LONE], min_level=least) == ([label] * 2, [label])


def test_a_taxonomic_cut_shows_values_where_it_cuts_to_values() -> None:
    groups = [[str(LONE)], ["1940-01-19", "1949-03-02"], ["1985-08-09"], ["1988-08-09"]]
    scheme = {"columns": {"birth": {"groups": groups}}}
    found, labels = released(scheme)
    assert found == ["1931-05-01", "1940s", "1940s", "1985-08-09", "1988-08-09"]
    assert labels == ["1931-05-01", "1940s", "1985-08-09", "1988-08-09"]
    with pytest.raises(SqlanonError, match="finer than min_level 1"):
        released(scheme, min_level=1)


def test_a_contiguous_cut_is_written_by_decades() -> None:
    scheme = {"columns": {"birth": {"cuts": ["1985-08-09"]}}}
    plain = released(scheme, family="contiguous", open_ends=False)[0]
    assert plain == ["1980s"] * 2 + ["[1931-05-01, 1985-08-09)"] * 3
    named = released(scheme, family="contiguous", open_ends=False, min_level=1)[0]
    assert named == ["1980s"] * 2 + ["[1930s, 1980s)"] * 3


def test_all_in_one_decade_says_nothing_of_other_birthdays() -> None:
    """The one group is called 1980s, which is not true of a birthday that comes later."""
    births = BIRTHS[3:]
    scheme = {**LEVEL_1, "domains": {"birth": [str(birth) for birth in births]}}
    assert released(scheme, births)[0] == ["1980s"] * 2
    with pytest.raises(SqlanonError, match="'birth' in 1 row"):
        released(scheme, [*births, LONE])


def test_unseen_at_the_top_of_a_lone_value() -> None:
    keys = {"publish": {"unseen": "top"}}
    scheme = {"columns": {"birth": {"level": 2}}, "domains": {"birth": [str(LONE)]}}
    made = policy(min_level=2) | keys
    with sqlanon.load(made, data=pd.DataFrame({"birth": BIRTHS})) as anonymizer:
        assert anonymizer.publish(scheme).to_pandas()["birth"].tolist() == ["*"] * 5


def test_search_publish_and_certificate_agree(tmp_path: Path) -> None:
    file = tmp_path / "people.duckdb"
    with duckdb.connect(file) as connection:
        connection.execute("CREATE TABLE people (birth DATE)")
        connection.executemany("INSERT INTO people VALUES (?)", [[LONE]] * 5)
        connection.executemany("INSERT INTO people VALUES (?)", [[birth] for birth in BIRTHS[1:]])
    made = policy(min_level=1) | {
        "source": {"connection": f"duckdb:///{file}", "table": "people"},
        "privacy": {"k": 2},
        "publish": {"to": "released"},
    }
    with sqlanon.load(made) as anonymizer:
        result = anonymizer.search()
        assert result.solution is not None
        assert result.solution.scheme.labels("birth") == ("1930s", "1940s", "1980s")
        publication = anonymizer.publish(result)
        assert str(LONE) not in json.dumps(publication.certificate.to_dict()["columns"])
    with duckdb.connect(file, read_only=True) as connection:
        counts = dict(connection.sql("SELECT birth, count(*) FROM released GROUP BY 1").fetchall())
    assert counts == {"1930s": 5, "1940s": 2, "1980s": 2}
