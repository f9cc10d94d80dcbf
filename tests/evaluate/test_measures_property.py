"""The further measures of random generalizations equal a brute-force twin, with models and
without, and so does the scale of all twelve."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_cases import ATOMS, HIERARCHY, WORD, Table, bad, kept, random_models
from random_cases import Case, Field, cases
from scheme_columns import from_bits
from score_oracle import Group, OracleColumn, Rule, measures, scores, suppressed_sizes
from test_scores_property import rules

from sqlanon.evaluate import query_plan as plan
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics import METRICS, further
from sqlanon.metrics.scores import Scores, scaled
from sqlanon.metrics.suppression import Suppression

NAMES, FURTHER = tuple(METRICS), tuple(further())


def partition(atoms: Sequence[Hashable], numbers: Sequence[int]) -> list[Group]:
    return [
        frozenset(a for a, n in zip(atoms, numbers, strict=True) if n == number)
        for number in sorted(set(numbers))
    ]


def levels_of(field: Field) -> list[list[Group]]:
    """The levels that were declared; NULL stands apart on all of them but the last."""
    levels = [partition(field.atoms, numbers) for numbers in field.levels]
    if not field.has_null:
        return levels
    root = [frozenset([*field.atoms, None])]
    below = levels if len(levels) == 1 else levels[:-1]
    return [*([*level, frozenset([None])] for level in below), root]


def with_levels(case: Case, bits: tuple[tuple[bool, ...], ...]) -> list[OracleColumn]:
    return [
        replace(column, levels=levels_of(field))
        for field, column in zip(case.fields, case.oracle(bits), strict=True)
    ]


def released(
    columns: Sequence[OracleColumn], subject: list | None, rule: Rule
) -> list[tuple[list[int], int]]:
    classes: dict[Hashable, list[int]] = {}
    for row in range(len(columns[0].cells)):
        classes.setdefault(tuple(c.group_of(row) for c in columns), []).append(row)
    sized = [(m, len(m if subject is None else {subject[r] for r in m})) for m in classes.values()]
    out = suppressed_sizes([(size, len(members)) for members, size in sized], rule)
    return [(members, size) for members, size in sized if size not in out]


def same(found: Scores, i: int, wanted: dict[str, float], asked: set[str], rows: int) -> None:
    row = found.row(i)
    assert row.keys() & {*FURTHER} == asked & {*FURTHER}
    for name in NAMES:
        value = scaled(name, found, rows)[i]
        if name in FURTHER and name not in asked:
            assert math.isnan(value)
        elif name in wanted:
            # Entropy is rounded to whole units of 2^-20 bits.
            tolerance = 1e-5 if name == "entropy" else 1e-9
            assert math.isclose(value, wanted[name], abs_tol=tolerance), name
            # Weights that are rounded need not add up to 1.
            assert 0 <= value <= 1 + (1e-12 if name == "nwp" else 0), name
            assert name not in FURTHER or row[name] == value


@settings(max_examples=60, deadline=None)
@given(
    case=cases(),
    batch=st.sampled_from([1, 7, 40]),
    cheap_queries=st.booleans(),
    asked=st.one_of(st.just(set(FURTHER)), st.sets(st.sampled_from(NAMES))),
)
def test_measures_equal_the_twin(
    case: Case, batch: int, cheap_queries: bool, asked: set[str]
) -> None:
    histogram = case.histogram()
    bits = [case.random_bits() for _ in range(batch)]
    schemes = [case.scheme(histogram, each) for each in bits]
    some = case.rng.sample(range(batch), min(batch, 10))
    with pytest.MonkeyPatch.context() as patch:
        if cheap_queries:  # small data then go through groups and roll-ups as well
            patch.setattr(plan, "QUERY", 1)
        for suppression, rule in rules(case.rows):
            label = "label" if case.label is not None else None
            with Evaluator(
                histogram, suppression=suppression, label=label, further=asked
            ) as evaluator:
                found = evaluator.score(schemes)
                plain = evaluator.column_loss(histogram.space.batch(schemes))
                assert plain.shape == (batch, len(case.fields))
            for i in some:
                columns = with_levels(case, bits[i])
                wanted = measures(columns, released(columns, case.subject, rule))
                basic = scores(
                    case.oracle(bits[i]), subject=case.subject, label=case.label, rule=rule
                )
                wanted |= {name: float(basic[name]) for name in ("nwp", "necd")}
                wanted |= {"glm": float(basic["glm_share"]), "dcn": basic["dcn"] / case.rows**2}
                if basic["ce"] is not None:
                    wanted["ce"] = basic["ce"]
                same(found, i, wanted, asked, case.rows)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 50),
    by_subject=st.booleans(),
    labelled=st.booleans(),
    cheap_queries=st.booleans(),
)
def test_measures_equal_the_twin_where_models_are_required(
    seed: int, rows: int, by_subject: bool, labelled: bool, cheap_queries: bool
) -> None:
    """Classes that violate a model go first, so sizes are no longer in order."""
    rng = random.Random(seed)
    table = Table(rows, rng, by_subject)
    histogram = table.histogram()
    models = random_models(rng)
    schemes = [[rng.random() < share for _ in range(8)] for share in (0, 0.3, 0.5, 0.8, 1) * 4]
    k = rng.randint(1, 4)
    for given_k, limit in ((True, 0.3), (True, 1.0), (False, 0.2)):
        rule = Suppression.up_to(limit, rows)
        if given_k:
            rule = Suppression.given_k(k, limit, rows)
        with pytest.MonkeyPatch.context() as patch:
            if cheap_queries:
                patch.setattr(plan, "QUERY", 1)
            with Evaluator(
                histogram, suppression=rule, models=models, hierarchies={WORD: HIERARCHY},
                label="label" if labelled else None, further=FURTHER,
            ) as evaluator:  # fmt: skip
                batch = [from_bits(histogram.space.columns, bits) for bits in schemes]
                found = evaluator.score(batch)
        for i, bits in enumerate(schemes[:10]):
            classes = table.classes(bits)
            sizes = {key: len({table.people[r] for r in m}) for key, m in classes.items()}
            unsafe = {
                key
                for key, members in classes.items()
                if any(bad(m, table.reached(m, bits, key, members)) for m in models)
                or (given_k and sizes[key] < k)
            }
            left = kept(classes, sizes, unsafe, given_k, int(limit * rows + 1e-9))
            wanted = measures(columns_of(table, bits), [(classes[key], sizes[key]) for key in left])
            same(found, i, wanted, set(FURTHER), rows)


def columns_of(table: Table, bits: list[bool]) -> list[OracleColumn]:
    cuts = {"a": bits[:5], "b": bits[5:]}
    columns = []
    for name, values in ATOMS.items():
        atoms = list(values)
        numbers = np.cumsum([0, *cuts[name]]).tolist()
        levels = [[frozenset([a]) for a in atoms], [frozenset(atoms)]]
        columns.append(OracleColumn(table.quasi[name], partition(atoms, numbers), levels=levels))
    return columns
