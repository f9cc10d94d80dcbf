"""Every privacy model and figure of the audit, against an oracle in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from audit_oracle import Case, cases, classes_of, in_order, key, violating, whole_of
from hypothesis import given, settings
from hypothesis import strategies as st
from model_oracle import Shares

from sqlanon.audit.audit_result import Audit, CheckResult, Satisfies
from sqlanon.audit.auditor import Auditor, audit, reference_of
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.values import format_value, parse_value
from sqlanon.engines.registry import open_source
from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.beta_likeness import BetaLikeness
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sqlanon.privacy.model import Model, figures
from sqlanon.privacy.t_closeness import Closeness, Distance

CLOSE = 2e-9


def audited(case: Case, whole: pa.Table | None, models: list[Model], **options: object) -> Audit:
    """The audit of a table; `whole`, its reference, is in another database."""
    source = open_source(data=case.table)
    reference = None
    if whole is not None:
        other = open_source(data=whole)
        reference = {name: reference_of(other, name, case.subject) for name in case.sensitive}
        other.engine.close()
    try:
        return audit(
            source,
            case.quasi,
            subject=case.subject,
            sensitive=case.sensitive,
            models=models,
            reference=reference,
            **options,  # type: ignore[arg-type]
        )
    finally:
        source.engine.close()


def below(bound: float) -> Callable[[float], bool]:
    return lambda reached: reached < bound - CLOSE


def above(bound: float) -> Callable[[float], bool]:
    return lambda reached: reached > bound + CLOSE


def not_below(bound: float) -> Callable[[float], bool]:
    return lambda reached: reached > bound - CLOSE


@given(
    case=cases(),
    share=st.integers(0, 10),
    bound=st.sampled_from([0.1, 0.2, 0.25, 1 / 3, 0.5, 0.75, 1.0]),
    number=st.integers(1, 4),
)
@settings(max_examples=150, deadline=None)
def test_against_the_oracle(case: Case, share: int, bound: float, number: int) -> None:
    whole = None
    if share:  # otherwise the table is its own reference
        whole, part = case.table, case.table.slice(0, len(case.table) * share // 10)
        case = Case(part, case.quasi, case.subject, case.sensitive)
    checks: list[tuple[Model, Callable[[Shares], Any], Callable[[Any], bool]]] = []
    figures = {}
    for name in case.sensitive:
        q = whole_of(whole if whole is not None else case.table, case.subject, name)
        values = in_order([case.table] if whole is None else [case.table, whole], name)
        by_order = partial(Shares.ordered, q=q, values=values)
        equal, gain, ratio = (
            partial(each, q=q) for each in (Shares.equal, Shares.gain, Shares.ratio)
        )

        checks += [
            (DistinctDiversity(name, number), Shares.distinct, below(number)),
            (EntropyDiversity(name, 1 + bound), Shares.perplexity, below(1 + bound)),
            (
                RecursiveDiversity(name, 2 * bound, number),
                partial(Shares.recursive, top=number),
                not_below(2 * bound),
            ),
            (Closeness(name, bound, Distance.EQUAL), equal, above(bound)),
            (Closeness(name, bound, Distance.ORDERED), by_order, above(bound)),
            (BetaLikeness(name, bound), gain, above(bound)),
            (DeltaDisclosure(name, bound), ratio, not_below(bound)),
            (AlphaAnonymity(name, bound), Shares.share, above(bound)),
        ]
        figures[name] = (
            (Shares.distinct, min), (Shares.perplexity, min),
            (partial(Shares.recursive, top=2), max),
            (Shares.share, max), (equal, max), (by_order, max), (gain, max), (ratio, max),
        )  # fmt: skip
    found = audited(case, whole, [model for model, _, _ in checks])
    if not found.rows:
        assert all(not Satisfies(model).holds(found) for model, _, _ in checks)
        return
    for model, reached, fails in checks:
        assert model.column is not None
        classes = classes_of(case.table, case.quasi, case.subject, model.column)
        counts = violating(classes, reached, fails)
        of_model = found.reached(model)
        assert (of_model.classes, of_model.rows, of_model.people) == counts, model
        assert Satisfies(model).holds(found) is not bool(counts[0])
        worst = min if model.at_least else max
        assert of_model.value == pytest.approx(
            worst(reached(c.shares) for c in classes), abs=CLOSE
        ), model
    for each in found.sensitive:
        classes = classes_of(case.table, case.quasi, case.subject, each.column)
        wanted = [
            worst(reached(c.shares) for c in classes) for reached, worst in figures[each.column]
        ]
        ordered = each.t_ordered
        values = [
            each.fewest_values, each.entropy_l, each.recursive_c, each.largest_share, each.t_equal,
            wanted[5] if ordered is None else ordered, each.beta, each.delta,
        ]  # fmt: skip
        assert values == pytest.approx(wanted, abs=CLOSE)
        type_ = case.table.schema.field(each.column).type
        assert (ordered is None) is (pa.types.is_string(type_) or pa.types.is_boolean(type_))


@st.composite
def trees(draw: st.DrawFn, leaves: list[str]) -> list[list[str]]:
    """A random hierarchy, a line per leaf."""
    height = draw(st.integers(1, 3))
    rows = [[leaf] for leaf in leaves]
    nodes = [*leaves]
    for level in range(1, height + 1):
        last = level == height
        cuts = [not last and draw(st.booleans()) for _ in nodes]
        groups: list[list[int]] = []
        for place, cut in enumerate(cuts):
            if cut or not groups:
                groups.append([])
            groups[-1].append(place)
        parent = {nodes[place]: f"{level}.{g}" for g, each in enumerate(groups) for place in each}
        for row in rows:
            row.append(parent[row[-1]])
        nodes = [f"{level}.{g}" for g in range(len(groups))]
    return rows


@given(data=st.data(), case=cases(), bound=st.sampled_from([0.1, 0.25, 1 / 3, 0.5]))
@settings(max_examples=80, deadline=None)
def test_hierarchies_against_the_oracle(data: st.DataObject, case: Case, bound: float) -> None:
    if not case.sensitive or not len(case.table):
        return
    name = case.sensitive[0]
    source = open_source(data=case.table)
    kind = source.column(name).kind
    assert kind is not None
    cells = {key(c): c for c in case.table[name].to_pylist() if c is not None}
    texts = {each: format_value(parse_value(cell, kind)) for each, cell in cells.items()}
    if not texts:
        return
    rows = data.draw(trees(data.draw(st.permutations([*texts]))))
    hierarchy = Hierarchy.from_rows([[texts[row[0]], *row[1:]] for row in rows], "drawn")
    model = Closeness(name, bound, Distance.HIERARCHICAL)
    found = audit(
        source, case.quasi, subject=case.subject, sensitive=[name],
        models=[model], hierarchies={name: hierarchy},
    )  # fmt: skip
    source.engine.close()
    q = whole_of(case.table, case.subject, name)
    classes = classes_of(case.table, case.quasi, case.subject, name)

    # NULL is a leaf directly under the root, for which no level in between counts.
    reached = partial(Shares.hierarchical, q=q, lines=rows)
    assert found.sensitive[0].t_hierarchical == pytest.approx(
        max(reached(c.shares) for c in classes), abs=CLOSE
    )
    of_model = found.reached(model)
    counts = violating(classes, reached, above(bound))
    assert (of_model.classes, of_model.rows, of_model.people) == counts


def test_a_leaf_of_single_precision() -> None:
    """It is parsed as a double, and so must be what the table holds: 0.1 is another number."""
    number = 0.10000000149011612
    table = pa.table({"a": [1, 1], "x": pa.array([number, None], pa.float32())})
    hierarchy = Hierarchy.from_rows([[str(number), "all"]], "one number")
    source = open_source(data=table)
    found = audit(source, ["a"], sensitive=["x"], hierarchies={"x": hierarchy})
    source.engine.close()
    assert found.sensitive[0].t_hierarchical == 0.0


def test_words_about_what_fails() -> None:
    # By hand: two classes, x with flu twice and y with flu and gout.
    table = pa.table({"a": ["x", "x", "y", "y"], "ill": ["flu", "flu", "flu", "gout"]})
    case = Case(table, ["a"], None, ["ill"])
    models = [
        DistinctDiversity("ill", 2),
        EntropyDiversity("ill", 1.5),
        RecursiveDiversity("ill", 3, 2),
        Closeness("ill", 0.1, Distance.EQUAL),
        BetaLikeness("ill", 0.3),
        DeltaDisclosure("ill", 0.5),
        AlphaAnonymity("ill", 0.6),
    ]
    result = CheckResult(audited(case, None, models), [Satisfies(model) for model in models])
    # In the whole flu has 3/4 and gout 1/4; in x flu has 1, in y both have 1/2.
    assert result.violations == (
        "distinct l = 2 on 'ill': the worst class has 1; 1 of 2 classes violate it; 2 of 4 rows "
        "are in them",
        "entropy l = 1.5 on 'ill': the worst class has 1; 1 of 2 classes violate it; 2 of 4 rows "
        "are in them",
        "recursive (c, l) = (3, 2) on 'ill': the worst class has no bound; 1 of 2 classes violate "
        "it; 2 of 4 rows are in them",
        "t = 0.1 (equal distance) on 'ill': the worst class has 0.25; 2 of 2 classes violate it; "
        "4 of 4 rows are in them",
        "beta = 0.3 on 'ill': the worst class has 1; 2 of 2 classes violate it; 4 of 4 rows are "
        "in them",
        "delta = 0.5 on 'ill': the worst class has no bound; 2 of 2 classes violate it; 4 of 4 "
        "rows are in them",
        "alpha = 0.6 on 'ill': the worst class has 1; 1 of 2 classes violate it; 2 of 4 rows are "
        "in them",
    )


def test_a_bound_that_must_not_be_reached() -> None:
    # c = 1 exactly: r_1 = r_2. And a number that only differs far behind the point.
    case = Case(pa.table({"a": [1, 1], "ill": ["x", "y"]}), ["a"], None, ["ill"])
    strict, near = RecursiveDiversity("ill", 1.0, 2), EntropyDiversity("ill", 2.00000001)
    result = CheckResult(audited(case, None, [strict, near]), [Satisfies(strict), Satisfies(near)])
    one, two = result.violations
    assert "the worst class has 1, which is not below it; 1 of 1 class" in one
    assert "the worst class has 2; 1 of 1 class" in two
    assert Satisfies(RecursiveDiversity("ill", 1.001, 2)).holds(
        audited(case, None, [RecursiveDiversity("ill", 1.001, 2)])
    )
    assert math.isinf(audited(case, None, []).sensitive[0].delta) is False


def test_many_classes_and_values() -> None:
    """A million rows in 100,000 classes, with 1,000 different numbers: some seconds."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i // 10 AS q, (i * 7919) % 1000 AS v FROM range(1000000) r(i)"
        )
        source = open_source(connection=connection, table="t")
        model = Closeness("v", 0.5, Distance.ORDERED)
        found = audit(source, ["q"], sensitive=["v"], models=[model])
    assert found.classes == 100_000
    # Ten rows of a class are ten different values: multiples of 7919 modulo 1000.
    assert (found.sensitive[0].fewest_values, found.sensitive[0].beta) == (10, 99.0)
    assert found.sensitive[0].t_equal == pytest.approx(0.99)


def test_products_beyond_64_bits() -> None:
    """Shares do not depend on the unit: a thousand million times as many people, the same."""
    source = open_source(data=pa.table({"a": [1, 1, 1, 2, 2], "v": [5, 7, 7, 5, 9]}))
    hierarchy = Hierarchy.from_rows([["5", "x", "*"], ["7", "x", "*"], ["9", "y", "*"]], "drawn")
    small = Auditor(source, ["a"], None).profile(source.column("v"), None, hierarchy)
    large = replace(
        small, **{name: getattr(small, name) * 10**10 for name in ("whole", "counts", "people")}
    )
    models = [figure.model for figure in figures("v")]
    assert len(models) == 9
    for model in models:
        assert model.audited(large) == pytest.approx(model.audited(small), rel=1e-12)
