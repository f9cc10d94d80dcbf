"""Numbers beside a bound: search, SELECT and verification take the same for equal to it.

Classes of 1,024 people have shares that end in a 5 at the tenth digit, where roundings part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from scheme_columns import from_bits
from sqlglot import exp

from sqlanon.audit.auditor import audit
from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain import Generalized
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source
from sqlanon.errors import CertificateError, PrivacyError
from sqlanon.evaluate import constraints as judge
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.beta_likeness import BetaLikeness
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance
from sqlanon.release.certificate import ModelEntry
from sqlanon.release.compile import compile_release, statement_text
from sqlanon.release.order import MeasuredColumn, Order

# Of 1,024 people 513 have 1 and 511 have 2; in the other class it is the other way round.
PAY = [1] * 513 + [2] * 511 + [1] * 511 + [2] * 513
TABLE = pa.table({"town": ["a"] * 1024 + ["b"] * 1024, "pay": PAY})
TREE = Hierarchy.from_rows([["1", "any"], ["2", "any"]], "pays")
ENTROPY = -sum(p * math.log(p) for p in (513 / 1024, 511 / 1024))
Made = Callable[[float], Model]
REACHED: list[tuple[str, Made, Fraction]] = [
    ("alpha", lambda bound: AlphaAnonymity("pay", bound), Fraction(513, 1024)),
    ("c", lambda bound: RecursiveDiversity("pay", bound, 1), Fraction(513, 1024)),
    ("equal", lambda bound: Closeness("pay", bound, Distance.EQUAL), Fraction(1, 1024)),
    ("ordered", lambda bound: Closeness("pay", bound, Distance.ORDERED), Fraction(1, 1024)),
    ("tree", lambda bound: Closeness("pay", bound, Distance.HIERARCHICAL), Fraction(1, 1024)),
    ("beta", lambda bound: BetaLikeness("pay", bound), Fraction(1, 512)),
    ("delta", lambda bound: DeltaDisclosure("pay", bound), Fraction(-math.log(511 / 512))),
    ("entropy", lambda bound: EntropyDiversity("pay", bound), Fraction(math.exp(ENTROPY))),
]
BILLIONTHS = [Fraction(n, 10) for n in (-15, -5, 0, 5, 15)]


def rows_of_classes_that_fail(model: Model) -> list[int]:
    """By each way that judges classes."""
    return [*by_searches(model), by_the_select(model), by_the_verification(model)]


def by_searches(model: Model) -> list[int]:
    source = open_source(data=TABLE)
    histogram = count(source, [Quasi("town")], facets=["pay"])
    source.engine.close()
    scheme = from_bits(histogram.space.columns, [True])
    found = []
    for most in (128, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(judge, "MOST_COUNTS", most)
            with Evaluator(histogram, models=[model], hierarchies={"pay": TREE}) as evaluator:
                scores = evaluator.score([scheme])
        found.append(int(scores.violating[0]))
        assert model.holds(float(scores.reached[0, 0])) is not bool(found[-1])
        assert (model.shortfall(scores.reached[:, 0])[0] > 0) == bool(found[-1])
    return found


def by_the_select(model: Model) -> int:
    recipe = Order(
        exp.table_("people"),
        (
            Generalized(
                Column(ValueDomain("town", Kind.TEXT, ("a", "b"))), Partition.atoms(2), "VARCHAR"
            ),
        ),
        1,
        suppress=True,
        models=(model,),
        sensitive=(MeasuredColumn("pay", "BIGINT", Kind.INTEGER),),
        hierarchies={"pay": TREE},
    )
    connection = duckdb.connect()
    connection.register("people", TABLE)
    text = statement_text(compile_release(recipe).select, "duckdb")
    return len(PAY) - len(connection.execute(text).fetchall())


def by_the_verification(model: Model) -> int:
    source = open_source(data=TABLE)
    try:
        found = audit(
            source, ["town"], sensitive=["pay"], models=[model], hierarchies={"pay": TREE}
        )
    finally:
        source.engine.close()
    assert found.reached(model).holds is not bool(found.reached(model).rows)
    return found.reached(model).rows


@pytest.mark.parametrize("billionths", BILLIONTHS, ids=lambda each: f"{float(each):g}")
@pytest.mark.parametrize(("made", "reached"), [each[1:] for each in REACHED],
                         ids=[each[0] for each in REACHED])  # fmt: skip
def test_all_ways_agree(made: Made, reached: Fraction, billionths: Fraction) -> None:
    """A bound that lies so far above what both classes reach."""
    model = made(float(reached + billionths / 10**9))
    fails = model.strict if abs(billionths) <= 1 else (billionths > 0) == model.at_least
    assert rows_of_classes_that_fail(model) == [len(PAY) * fails] * 4


def test_limits_are_short_decimals() -> None:
    assert Closeness("pay", 0.2, Distance.EQUAL).limit == 0.200000001
    assert DeltaDisclosure("pay", 1.1).limit == 1.099999999
    assert EntropyDiversity("pay", 2).limit == 1.999999999
    assert DistinctDiversity("pay", 2).limit == 2
    # So large a number has no digits for the tolerance, and equal stays equal.
    assert BetaLikeness("pay", 1e9).holds(1e9)
    assert not DeltaDisclosure("pay", 1e9).holds(1e9)


@pytest.mark.parametrize("bound", [0.0, 1e-12, 1e-9, -1.0, math.nan])
def test_what_nothing_stays_below_is_refused(bound: float) -> None:
    with pytest.raises(PrivacyError, match=r"delta_disclosure\.delta is .*above 1e-9"):
        DeltaDisclosure("pay", bound)
    with pytest.raises(PrivacyError, match=r"l_diversity\.c is .*above 1e-9"):
        RecursiveDiversity("pay", bound, 2)
    assert Closeness("pay", 1e-12, Distance.EQUAL).holds(0.0)


def certified(bound: float, reached: float) -> ModelEntry:
    return ModelEntry(
        key="delta_disclosure",
        column="pay",
        required=f"delta = {bound:g} on 'pay'",
        measure=DeltaDisclosure.measure,
        top=0,
        bound=bound,
        reached=reached,
    )


def test_a_certificate_with_a_bound_below_all_others() -> None:
    assert DeltaDisclosure("pay", 1.0).holds(0.9999999989)
    with pytest.raises(
        CertificateError, match=r"privacy\.models: delta_disclosure\.delta is 1e-12"
    ):
        certified(1e-12, 0.0).model()
