"""A node of a hierarchy is true of its leaves only: values that are new belong to no node."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

import sqlanon
from sqlanon.errors import SqlanonError

POLICY: dict[str, Any] = {
    "columns": {
        "birth": {
            "role": "quasi",
            "hierarchy": {"date": ["day", "decade"]},
            "family": "full-domain",
        }
    },
    "one_row_per_person": True,
    "privacy": {"k": 1},
}
DECADES = {"columns": {"birth": {"level": 1}}}
SEEN = [dt.date(1931, 5, 1), dt.date(1932, 5, 1), dt.date(1940, 1, 19), dt.date(1949, 3, 2)]


def scheme_of(births: list[dt.date]) -> dict[str, Any]:
    """The decades as a search on these birthdays would write them."""
    with sqlanon.load(POLICY, data=pd.DataFrame({"birth": births})) as anonymizer:
        columns = anonymizer.measure(DECADES).to_dict()["columns"]
    return {"columns": columns, "domains": {"birth": [birth.isoformat() for birth in births]}}


def test_decades_of_known_birthdays() -> None:
    with sqlanon.load(POLICY, data=pd.DataFrame({"birth": SEEN})) as anonymizer:
        released = anonymizer.publish(scheme_of(SEEN)).to_pandas()
    assert released["birth"].tolist() == ["1930s", "1930s", "1940s", "1940s"]


# The forties begin on their first day, not on the first birthday that was seen.
@pytest.mark.parametrize("new", [dt.date(1940, 1, 5), dt.date(1850, 1, 5), dt.date(2035, 1, 5)])
def test_a_new_birthday_is_noticed(new: dt.date) -> None:
    scheme = scheme_of(SEEN)
    with (
        sqlanon.load(POLICY, data=pd.DataFrame({"birth": [*SEEN, new]})) as anonymizer,
        pytest.raises(SqlanonError, match="'birth' in 1 row") as raised,
    ):
        anonymizer.publish(scheme)
    assert raised.value.exit_status == 4
