"""A solution that `measure` makes of a scheme file releases what the file releases.

The data may hold fewer values than the scheme was found on, and then a decade may hold one date.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from command_line import Run

import sqlanon

SEEN = [dt.date(1931, 5, 1), dt.date(1932, 6, 1), dt.date(1940, 1, 19), dt.date(1949, 3, 2)]
NOW = [SEEN[0]] * 3 + SEEN[2:]
BIRTH = {
    "role": "quasi",
    "hierarchy": {"date": ["day", "month", "decade"]},
    "family": "taxonomic",
}
POLICY: dict[str, Any] = {
    "columns": {"birth": BIRTH},
    "one_row_per_person": True,
    "privacy": {"k": 1},
}
SCHEME: dict[str, Any] = {
    "columns": {"birth": {"cuts": ["1940-01-19", "1949-03-02"]}},
    "domains": {"birth": [day.isoformat() for day in SEEN]},
}
RELEASED = ["1930s"] * 3 + ["1940-01-19", "1949-03-02"]


def released(anonymizer: sqlanon.Anonymizer, scheme: Any) -> list[str]:
    return sorted(map(str, anonymizer.publish(scheme).to_pandas()["birth"]))


def test_a_decade_of_one_date_stays_a_decade() -> None:
    with sqlanon.load(POLICY, data=pd.DataFrame({"birth": NOW})) as anonymizer:
        solution = anonymizer.measure(SCHEME)
        again = anonymizer.measure(solution)
        ways = [SCHEME, solution, again, anonymizer.scheme(SCHEME), solution.to_dict()]
        assert [released(anonymizer, way) for way in ways] == [RELEASED] * len(ways)
        assert anonymizer.sql(solution) == anonymizer.sql(SCHEME)
    for shown in (solution, again):
        assert shown.labels("birth") == ("1930s", "1940-01-19", "1949-03-02")
        assert "1931" not in str(shown)
        # Of the three dates that there are now, by hand.
        assert re.search(r"birth: 3 of 3 groups .*: 1930s", str(shown))
    assert (solution.k, solution.k_max, solution.classes) == (1, 3, 3)


def test_a_decade_of_new_dates_only() -> None:
    births = [dt.date(1939, 9, 9), *SEEN[2:]]
    with sqlanon.load(POLICY, data=pd.DataFrame({"birth": births})) as anonymizer:
        solution = anonymizer.measure(SCHEME)
        assert released(anonymizer, solution) == RELEASED[2:]
        assert solution.to_dict()["domains"]["birth"]["values"] == SCHEME["domains"]["birth"]


def test_beside_a_column_whose_values_the_file_does_not_list() -> None:
    policy = {**POLICY, "columns": {"birth": BIRTH, "city": {"role": "quasi"}}}
    scheme = {**SCHEME, "columns": {**SCHEME["columns"], "city": {"level": 1}}}
    data = pd.DataFrame({"birth": NOW, "city": list("abcab")})
    with sqlanon.load(policy, data=data) as anonymizer:
        assert released(anonymizer, scheme) == RELEASED
        assert released(anonymizer, anonymizer.measure(scheme)) == RELEASED


def test_values_without_hierarchy() -> None:
    policy = {**POLICY, "columns": {"birth": {"role": "quasi"}}}
    scheme = {"columns": {"birth": {"cuts": [25, 40]}}, "domains": {"birth": [20, 25, 30, 40]}}
    with sqlanon.load(policy, data=pd.DataFrame({"birth": [20, 25, 25, 40]})) as anonymizer:
        expected = released(anonymizer, scheme)
        assert "[25, 40)" in expected
        assert released(anonymizer, anonymizer.measure(scheme)) == expected


def test_of_the_same_values_nothing_else_is_kept() -> None:
    with sqlanon.load(POLICY, data=pd.DataFrame({"birth": SEEN})) as anonymizer:
        solution = anonymizer.measure(SCHEME)
    assert solution.scheme.given is None
    assert "domains" not in solution.to_dict()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_command(tmp_path: Path, run: Run, options: tuple[str, ...]) -> None:
    policy = {**POLICY, "source": {"file": "people.csv"}}
    (tmp_path / "policy.yml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    (tmp_path / "scheme.json").write_text(json.dumps(SCHEME), encoding="utf-8")
    pd.DataFrame({"birth": NOW}).to_csv(tmp_path / "people.csv", index=False)
    done = run("measure", "policy.yml", "--scheme", "scheme.json", *options)
    assert done.status == 0, done.err
    if options:
        found = json.loads(done.out)
        assert found["columns"] == SCHEME["columns"]
        assert found["domains"]["birth"]["values"] == SCHEME["domains"]["birth"]
    else:
        assert "1930s" in done.out
        assert "1931" not in done.out
