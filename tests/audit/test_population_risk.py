"""Risks within a population: by hand, against a twin in plain Python, and by simulation."""

from __future__ import annotations

import math
from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from audit_oracle import Case, cases, key
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.audit.audit_result import CheckResult, ClassSize, Satisfies, zayatz
from sqlanon.audit.auditor import Population, audit, smallest_classes
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source
from sqlanon.errors import CheckError, SubjectError
from sqlanon.privacy.k_map import KMap

# Three classes of 2, 1 and 1 people; 4, 2 and nobody of the population fit them.
TABLE = pa.table({"a": ["x", "x", "y", "z"]})
PEOPLE = pa.table({"a": ["x", "x", "x", "x", "y", "y", "w"]})


@pytest.fixture
def source() -> Source:
    return open_source(data=TABLE)


@pytest.fixture
def population() -> Population:
    return Population(open_source(data=PEOPLE))


def test_by_hand(source: Source, population: Population) -> None:
    model = KMap(None, 3)
    found = audit(source, ["a"], models=[model], population=population, threshold=0.3)
    risk = found.journalist
    assert risk is not None
    assert (risk.k, risk.unmatched, risk.uniques) == (0, 1, 0)
    assert risk.highest == 1.0
    assert risk.average == pytest.approx((2 / 4 + 1 / 2 + 1) / 4)
    assert risk.above == pytest.approx(2 / 4)  # 1 / 2 and 1, not 1 / 4
    assert risk.marketer == pytest.approx((2 / 4 + 1 / 2 + 1) / 4)
    assert found.uniques is not None
    assert (found.uniques.sample, found.uniques.population_size) == (2, 7)
    assert CheckResult(found, [Satisfies(model)]).violations == (
        "k-map k = 3: the worst class has 0; 2 of 3 classes violate it; 2 of 4 rows are in them",
    )
    document = found.to_dict()["risk"]
    assert document["sample_uniques"] == 2
    assert document["journalist"]["k_map"] == 0
    assert document["population_uniques"]["counted"] == 0


def test_the_listing_shows_it(source: Source, population: Population) -> None:
    listed = smallest_classes(source, ["a"], population=population).to_dict()["smallest"]
    assert listed == [
        {"rows": 1, "people": 1, "population": 2, "journalist_risk": 0.5, "values": {"a": "y"}},
        {"rows": 1, "people": 1, "population": 0, "journalist_risk": 1.0, "values": {"a": "z"}},
        {"rows": 2, "people": 2, "population": 4, "journalist_risk": 0.25, "values": {"a": "x"}},
    ]


@given(case=cases(), share=st.integers(0, 10), threshold=st.sampled_from([0.0, 0.2, 0.5, 1.0]))
@settings(max_examples=60, deadline=None)
def test_against_a_twin(case: Case, share: int, threshold: float) -> None:
    """The table is a part of the population, or has more people than that."""
    part = case.table.slice(0, len(case.table) * share // 10)
    model = KMap(None, 2)

    def classes(table: pa.Table) -> dict[tuple, set]:
        found: dict[tuple, set] = {}
        for number, row in enumerate(table.to_pylist()):
            person = number if case.subject is None else key(row[case.subject])
            found.setdefault(tuple(key(row[each]) for each in case.quasi), set()).add(person)
        return found

    ours, theirs = classes(part), classes(case.table)
    source, other = open_source(data=part), open_source(data=case.table)
    found = audit(
        source, case.quasi, subject=case.subject, models=[model],
        population=Population(other, case.subject), threshold=threshold,
    )  # fmt: skip
    listed = smallest_classes(
        source, case.quasi, subject=case.subject, population=Population(other, case.subject)
    )
    risk = found.journalist
    assert risk is not None
    if not ours:
        assert not Satisfies(model).holds(found)
        return
    sizes = {name: len(theirs[name]) for name in ours}
    risks = [1 / sizes[name] for name, members in ours.items() for _ in members]
    assert (risk.k, risk.unmatched) == (min(sizes.values()), 0)
    assert risk.highest == pytest.approx(max(risks))
    assert risk.average == pytest.approx(math.fsum(risks) / len(risks))
    assert risk.above == pytest.approx(sum(each > threshold for each in risks) / len(risks))
    people = len({person for members in ours.values() for person in members})
    assert risk.marketer == pytest.approx(min(1, math.fsum(risks) / people))
    assert risk.uniques == sum(size == 1 for size in sizes.values())
    assert Satisfies(model).holds(found) is (min(sizes.values()) >= 2)
    assert found.reached(model).classes == sum(size < 2 for size in sizes.values())
    shown = Counter((each.people, each.population) for each in listed.classes)
    assert not shown - Counter((len(ours[name]), sizes[name]) for name in ours)


def test_labels_of_other_types_match() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TYPE e AS ENUM ('[20, 30)', 'ü')")
        connection.execute(
            "CREATE TABLE t AS FROM (VALUES ('ü'::e, 1, 0.5::DECIMAL(4, 2), '1.0')) v (a, b, c, d)"
        )
        connection.execute(
            "CREATE TABLE p AS FROM (VALUES ('ü', 1.0::DOUBLE, 0.5::DOUBLE, 1.0::DOUBLE)) "
            "v (a, b, c, d)"
        )
        source, other = (open_source(connection=connection, table=each) for each in "tp")
        found = audit(source, ["a", "b", "c", "d"], population=Population(other))
    assert found.journalist is not None
    assert (found.journalist.k, found.journalist.uniques) == (1, 1)


def test_what_is_refused(source: Source) -> None:
    with pytest.raises(CheckError, match="k-map k = 3 speaks of a population; give one"):
        audit(source, ["a"], models=[KMap(None, 3)])
    with pytest.raises(CheckError, match=r"the population has 3 people, and the table 4; a popul"):
        audit(source, ["a"], population_size=3)
    nameless = open_source(data=pa.table({"a": ["x"], "who": pa.array([None], pa.string())}))
    with pytest.raises(SubjectError, match="'who' is NULL in 1 row"):
        audit(source, ["a"], population=Population(nameless, "who"))


# Zayatz (1991).


def sizes(**numbers: int) -> list[ClassSize]:
    return [ClassSize(int(n[1:]), number, int(n[1:]) * number) for n, number in numbers.items()]


def test_the_estimate_by_hand() -> None:
    """5 of 10 people, three alone and two together.

    P(1 | 1) = 1 · C(9, 4) / C(10, 5) = 126 / 252 = 1/2, P(1 | 2) = 2 · C(8, 4) / C(10, 5) =
    140 / 252 = 5/9. P = (3/4 · 1/2) / (3/4 · 1/2 + 1/4 · 5/9) = 27/37. Of the three, 81/37 are
    unique in the population, and in all of it 162/37.
    """
    assert zayatz(sizes(_1=3, _2=1), 5, 10) == pytest.approx(162 / 37)


@given(
    numbers=st.dictionaries(st.integers(1, 12), st.integers(1, 9), min_size=1),
    others=st.integers(0, 200),
)
@settings(max_examples=200, deadline=None)
def test_the_estimate_by_its_formula(numbers: dict[int, int], others: int) -> None:
    n = sum(size * number for size, number in numbers.items())
    population, u = n + others, sum(numbers.values())

    def single(i: int) -> float:
        return i * math.comb(population - i, n - 1) / math.comb(population, n)

    alone = numbers.get(1, 0)
    all_single = sum(number / u * single(i) for i, number in numbers.items())
    wanted = alone * (alone / u * single(1) / all_single) * population / n if alone else 0.0
    found = zayatz([ClassSize(i, m, i * m) for i, m in numbers.items()], n, population)
    assert found == pytest.approx(wanted, rel=1e-9)


def test_everyone_is_in_the_sample() -> None:
    assert zayatz(sizes(_1=7, _3=2, _50=1), 63, 63) == 7.0


@pytest.mark.parametrize(
    ("fraction", "least", "most"),
    [(0.9, 0.97, 1.03), (0.8, 0.95, 1.05), (0.5, 1.0, 1.4), (0.1, 1.0, 6.0)],
)
def test_the_estimate_by_simulation(fraction: float, least: float, most: float) -> None:
    """Classes of geometric sizes: near the truth for large samples, too high for small ones.

    It takes the sizes of classes in the sample for those in the population, and a small sample
    breaks classes up: an error to the safe side.
    """
    random = np.random.default_rng(1)
    people_in = random.geometric(0.4, 20_000)
    members = np.repeat(np.arange(people_in.size), people_in)
    sample = random.choice(members, int(fraction * members.size), replace=False)
    found = Counter(Counter(sample.tolist()).values())
    estimate = zayatz([ClassSize(i, n, i * n) for i, n in found.items()], len(sample), len(members))
    assert least <= estimate / int((people_in == 1).sum()) <= most


def test_a_size_alone(source: Source) -> None:
    found = audit(source, ["a"], population_size=40)
    assert found.journalist is None
    assert found.uniques is not None
    assert found.uniques.counted is None
    assert found.to_dict()["risk"]["population_uniques"] == {
        "population_size": 40, "estimated": found.uniques.estimated,
    }  # fmt: skip
    assert "estimate: alone among 40 people (Zayatz)" in str(found)
