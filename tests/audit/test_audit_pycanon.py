"""The figures beside those of pycanon, an audit by other people.

Where it differs the test says why, by the definition, and asserts both numbers. pycanon groups
with pandas, which leaves out rows with a missing value, so there are none in these tables.
"""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity

import sqlanon
from sqlanon.audit.audit_result import Sensitive
from sqlanon.datasets import adult_path
from sqlanon.privacy.l_diversity import RecursiveDiversity

pytestmark = pytest.mark.filterwarnings("ignore:In a future version, the keys of `groups`")


def figures(frame: pd.DataFrame, quasi: list[str], column: str) -> Sensitive:
    (found,) = sqlanon.check(frame, quasi, sensitive=column).audit.sensitive
    return found


def compare(frame: pd.DataFrame, quasi: list[str], column: str) -> None:
    """What pycanon measures by the same definitions."""
    ours, of = figures(frame, quasi, column), (frame, quasi, [column])
    assert ours.fewest_values == anonymity.l_diversity(*of)
    assert ours.largest_share == pytest.approx(anonymity.alpha_k_anonymity(*of)[0])
    assert ours.beta == pytest.approx(anonymity.basic_beta_likeness(*of))
    if frame[column].nunique() > 1:  # pycanon divides by m - 1
        numbers = pd.api.types.is_numeric_dtype(frame[column])
        t = ours.t_ordered if numbers else ours.t_equal
        assert t == pytest.approx(anonymity.t_closeness(*of))
    # pycanon cuts the effective number of values down to a whole one, and 3 may be 2.9999… there.
    theirs = anonymity.entropy_l_diversity(*of)
    assert theirs in (math.floor(ours.entropy_l), math.floor(ours.entropy_l - 1e-6))
    # |ln (p / q)| is for every value of the source; pycanon leaves out those that a class lacks.
    delta = anonymity.delta_disclosure(*of)
    assert ours.delta == pytest.approx(delta) or math.isinf(ours.delta)
    lacking = frame.groupby(quasi)[column].nunique().min() < frame[column].nunique()
    assert math.isinf(ours.delta) is bool(lacking)


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(1, 25))

    def cells(pool: list) -> list:
        return draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))

    return pd.DataFrame(
        {"a": cells(["x", "y", "é"]), "b": cells([1, 2]), "text": cells(["", "u", "v", "w"]),
         "number": cells([-3, 0, 5, 1000])}
    )  # fmt: skip


@given(frame=frames())
@settings(max_examples=40, deadline=None)
def test_random_tables(frame: pd.DataFrame) -> None:
    for column in ("text", "number"):
        compare(frame, ["a", "b"], column)


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    frame = pd.read_parquet(
        adult_path(), columns=["age", "sex", "race", "occupation", "salary-class"]
    )
    return frame.assign(decade=frame["age"] // 10).astype({"age": "int64"})


@pytest.mark.parametrize("column", ["occupation", "salary-class"])
@pytest.mark.parametrize("quasi", [["decade", "sex", "race"], ["sex"]], ids=str)
def test_adult(adult: pd.DataFrame, quasi: list[str], column: str) -> None:
    compare(adult, quasi, column)


def test_adult_ages_by_their_order(adult: pd.DataFrame) -> None:
    compare(adult, ["sex", "race"], "age")


def test_recursive_diversity_differs() -> None:
    """r_1 is the most frequent value (Definition 4.3 of the paper); pycanon sorts the other way.

    Counts 6, 2, 1 of one class, l = 3: by the definition c must be above 6 / 1 = 6. pycanon
    takes 1, 2, 6, and 1 / 6, whose next whole number is 1: a class that hardly hides its most
    frequent value would be (1, 3)-diverse.
    """
    frame = pd.DataFrame({"a": ["x"] * 9, "ill": ["u"] * 6 + ["v"] * 2 + ["w"]})
    assert anonymity.recursive_c_l_diversity(frame, ["a"], ["ill"]) == (1, 3)
    result = sqlanon.check(frame, "a", sensitive="ill", l=3, l_kind="recursive", c=6)
    assert result.audit.reached(RecursiveDiversity("ill", 6.0, 3)).value == 6.0
    assert not result.holds  # strictly above
    assert sqlanon.check(frame, "a", sensitive="ill", l=3, l_kind="recursive", c=6.01).holds
    assert figures(frame, ["a"], "ill").recursive_c == 2.0  # 6 / (2 + 1)


def test_entropy_diversity_differs() -> None:
    """Counts 2, 1, 1 have the entropy 1.5 ln 2: between 2 and 3 values, which pycanon cuts."""
    frame = pd.DataFrame({"a": ["x"] * 4, "ill": ["u", "u", "v", "w"]})
    assert anonymity.entropy_l_diversity(frame, ["a"], ["ill"]) == 2
    assert figures(frame, ["a"], "ill").entropy_l == pytest.approx(2**1.5)


def test_delta_disclosure_differs() -> None:
    """The class x lacks v, which tells that its people do not have it: ln 0 has no bound."""
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "ill": ["u", "u", "u", "v"]})
    # p / q: in x of u 1 / 0.75, in y of u 0.5 / 0.75 and of v 0.5 / 0.25.
    assert anonymity.delta_disclosure(frame, ["a"], ["ill"]) == pytest.approx(math.log(2))
    assert math.isinf(figures(frame, ["a"], "ill").delta)
