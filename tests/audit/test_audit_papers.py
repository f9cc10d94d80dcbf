"""The worked examples of the papers that the privacy models come from."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sqlanon.audit.audit_result import Audit, CheckResult, Satisfies
from sqlanon.audit.auditor import audit, reference_of
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.engines.registry import open_source
from sqlanon.errors import HierarchyError, UncoveredValueError
from sqlanon.privacy.l_diversity import DistinctDiversity, RecursiveDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance

# N. Li, T. Li & S. Venkatasubramanian, t-closeness, ICDE 2007.

# Table 5, which has 0.167-closeness with regard to salary. Its caption also says 0.278 with regard
# to disease; the definition of section 4.3 gives 8/27 = 0.296, see below.
CLOSE = pa.table(
    {
        "zip": ["4767*"] * 3 + ["4790*"] * 3 + ["4760*"] * 3,
        "age": ["<= 40"] * 3 + [">= 40"] * 3 + ["<= 40"] * 3,
        "salary": [3000, 5000, 9000, 6000, 11000, 8000, 4000, 7000, 10000],
        "disease": [
            "gastric ulcer", "stomach cancer", "pneumonia",
            "gastritis", "flu", "bronchitis",
            "gastritis", "bronchitis", "stomach cancer",
        ],
    }
)  # fmt: skip
# Figure 1, the hierarchy of diseases.
LEAVES = {
    ("respiratory infection", "respiratory"): ["flu", "pneumonia", "bronchitis"],
    ("vascular lung diseases", "respiratory"): ["pulmonary edema", "pulmonary embolism"],
    ("stomach diseases", "digestive"): ["gastric ulcer", "stomach cancer", "gastritis"],
    ("colon diseases", "digestive"): ["colitis", "colon cancer"],
}
DISEASES = Hierarchy.from_rows(
    [
        [leaf, group, system, "respiratory and digestive"]
        for (group, system), leaves in LEAVES.items()
        for leaf in leaves
    ],
    "figure 1",
)


def audited(table: pa.Table, *quasi: str, **options: object) -> Audit:
    source = open_source(data=table)
    try:
        return audit(source, quasi, **options)  # type: ignore[arg-type]
    finally:
        source.engine.close()


def test_the_table_of_the_paper() -> None:
    """By hand: of nine people gastric ulcer, pneumonia and flu have 1, the other three 2.

    In the class of gastritis, flu and bronchitis, extra is in ninths: gastric ulcer -1, stomach
    cancer -2, gastritis +1, together -2; pneumonia -1, flu +2, bronchitis +1, together +2. Moved
    are 1/9 within the stomach diseases and 1/9 within the infections, each for 1/3, and 2/9 over
    the root for 1: 1/27 + 1/27 + 6/27. The other classes have 7/27 and 5/27 in the same way.
    """
    models: list[Model] = [
        Closeness("salary", 0.167, Distance.ORDERED),
        Closeness("disease", 0.297, Distance.HIERARCHICAL),
        Closeness("salary", 0.166, Distance.ORDERED),
        Closeness("disease", 0.296, Distance.HIERARCHICAL),
    ]
    found = audited(
        CLOSE, "zip", "age", sensitive=["salary", "disease"], models=models,
        hierarchies={"disease": DISEASES},
    )  # fmt: skip
    salary, disease = found.sensitive
    assert salary.t_ordered == pytest.approx(0.167, abs=0.0005)
    assert disease.t_hierarchical == pytest.approx(8 / 27)
    assert (salary.t_hierarchical, disease.t_ordered) == (None, None)
    result = CheckResult(found, [Satisfies(model) for model in models])
    assert [each.holds(found) for each in result.required] == [True, True, False, False]
    for zip_code, distance in (("4767*", 7), ("4790*", 8), ("4760*", 5)):
        whole = open_source(data=CLOSE)
        part = CLOSE.filter(pc.equal(CLOSE["zip"], zip_code))
        reference = {"disease": reference_of(whole, "disease")}
        (one,) = audited(
            part, "zip", sensitive=["disease"], hierarchies={"disease": DISEASES},
            reference=reference,
        ).sensitive  # fmt: skip
        assert one.t_hierarchical == pytest.approx(distance / 27)


@pytest.mark.parametrize(
    ("salaries", "distance"), [([3, 4, 5], 0.375), ([6, 8, 11], 0.167)], ids=str
)
def test_the_distances_of_the_paper(salaries: list[int], distance: float) -> None:
    """Section 4.2: Q = {3k, …, 11k}, P1 = {3k, 4k, 5k}, P2 = {6k, 8k, 11k}."""
    whole = open_source(data=pa.table({"salary": [1000 * n for n in range(3, 12)]}))
    table = pa.table({"a": [1] * 3, "salary": [1000 * n for n in salaries]})
    found = audited(
        table, "a", sensitive=["salary"], reference={"salary": reference_of(whole, "salary")}
    )
    assert found.sensitive[0].t_ordered == pytest.approx(distance, abs=0.0005)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("flu", "bronchitis", 1 / 3),
        ("flu", "pulmonary embolism", 2 / 3),
        ("flu", "stomach cancer", 1.0),
        ("colitis", "colon cancer", 1 / 3),
        ("flu", "flu", 0.0),
    ],
)
def test_how_far_apart_two_diseases_are(one: str, other: str, distance: float) -> None:
    """Section 4.3: "the distance between Flu and Bronchitis is 1/3", and the two after it."""
    whole = open_source(data=pa.table({"ill": [other]}))
    found = audited(
        pa.table({"a": [1], "ill": [one]}), "a", sensitive=["ill"],
        hierarchies={"ill": DISEASES}, reference={"ill": reference_of(whole, "ill")},
    )  # fmt: skip
    assert found.sensitive[0].t_hierarchical == pytest.approx(distance)


def test_null_is_under_the_root() -> None:
    whole = open_source(data=pa.table({"ill": pa.array([None], pa.string())}))
    reference = {"ill": reference_of(whole, "ill")}
    table = pa.table({"a": [1], "ill": ["flu"]})
    tree = {"ill": DISEASES}
    found = audited(table, "a", sensitive=["ill"], hierarchies=tree, reference=reference)
    assert found.sensitive[0].t_hierarchical == 1.0


def test_a_value_without_a_leaf() -> None:
    table = pa.table({"a": [1, 1, 2], "ill": ["flu", "gout", "scurvy"]})
    with pytest.raises(UncoveredValueError) as caught:
        audited(table, "a", sensitive=["ill"], hierarchies={"ill": DISEASES})
    assert str(caught.value) == (
        "Hierarchy figure 1 has no leaf for 2 values of the sensitive column 'ill'. Add a line for "
        "each, or leave the hierarchy out."
    )
    with pytest.raises(HierarchyError, match="leaf 'flu' is not a value of kind integer"):
        audited(pa.table({"a": [1], "ill": [1]}), "a", sensitive=["ill"],
                hierarchies={"ill": DISEASES})  # fmt: skip


# A. Machanavajjhala et al., l-diversity, TKDD 2007: Figures 2 and 3.

HEART, VIRAL, CANCER = "heart disease", "viral infection", "cancer"


def inpatients(*classes: list[str]) -> pa.Table:
    rows = [(number, each) for number, values in enumerate(classes) for each in values]
    return pa.table({"class": [c for c, _ in rows], "condition": [v for _, v in rows]})


FOUR_ANONYMOUS = inpatients(
    [HEART, HEART, VIRAL, VIRAL], [CANCER, HEART, VIRAL, VIRAL], [CANCER] * 4
)
THREE_DIVERSE = inpatients(
    [HEART, VIRAL, CANCER, CANCER], [CANCER, HEART, VIRAL, VIRAL], [HEART, VIRAL, CANCER, CANCER]
)


def test_the_homogeneous_class() -> None:
    """k = 4, but everyone in one class has cancer."""
    two = DistinctDiversity("condition", 2)
    found = audited(FOUR_ANONYMOUS, "class", sensitive=["condition"], models=[two])
    assert found.k == 4
    (condition,) = found.sensitive
    assert (condition.fewest_values, condition.entropy_l, condition.largest_share) == (1, 1.0, 1.0)
    assert math.isinf(condition.recursive_c)
    assert math.isinf(condition.delta)
    assert CheckResult(found, [Satisfies(two)]).violations == (
        "distinct l = 2 on 'condition': the worst class has 1; 1 of 3 classes violate it; 4 of 12 "
        "rows are in them",
    )


def test_the_three_diverse_table() -> None:
    """Every class has counts of 2, 1, 1: entropy 1.5 ln 2, r_1 / (r_2 + r_3) = 1, r_1 / r_3 = 2."""
    models: list[Model] = [
        DistinctDiversity("condition", 3),
        RecursiveDiversity("condition", 2.5, 3),
        RecursiveDiversity("condition", 2, 3),
    ]
    found = audited(THREE_DIVERSE, "class", sensitive=["condition"], models=models)
    (condition,) = found.sensitive
    assert condition.fewest_values == 3
    assert condition.entropy_l == pytest.approx(2**1.5)
    assert condition.recursive_c == 1.0
    assert [Satisfies(model).holds(found) for model in models] == [True, True, False]
    assert found.reached(models[1]).value == 2.0
