"""What classes reach of every privacy model equals a brute-force twin, and so does suppression."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_cases import HIERARCHY, WORD, Table, bad, kept, random_models
from scheme_columns import from_bits

from sqlanon.evaluate import constraints
from sqlanon.evaluate import query_plan as plan
from sqlanon.evaluate.evaluator import Evaluator
from sqlanon.metrics.suppression import Suppression


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 60),
    by_subject=st.booleans(),
    labelled=st.booleans(),
    cheap_queries=st.booleans(),
    many_values=st.booleans(),
)
def test_models_equal_the_twin(
    seed: int, rows: int, by_subject: bool, labelled: bool, cheap_queries: bool, many_values: bool
) -> None:
    rng = random.Random(seed)
    table = Table(rows, rng, by_subject)
    histogram = table.histogram()
    models = random_models(rng)
    schemes = [[rng.random() < share for _ in range(8)] for share in (0, 0.3, 0.5, 0.8, 1) * 2]
    k = rng.randint(1, 4)
    for given_k, limit in ((True, 0.0), (True, 0.3), (True, 1.0), (False, 0.2)):
        rule = Suppression.up_to(limit, rows)
        if given_k:
            rule = Suppression.given_k(k, limit, rows)
        with pytest.MonkeyPatch.context() as patch:
            if cheap_queries:
                patch.setattr(plan, "QUERY", 1)
            if many_values:  # as if there were too many for a count each
                patch.setattr(constraints, "MOST_COUNTS", 0)
            with Evaluator(
                histogram, suppression=rule, models=models, hierarchies={WORD: HIERARCHY},
                label="label" if labelled else None,
            ) as evaluator:  # fmt: skip
                batch = [from_bits(histogram.space.columns, bits) for bits in schemes]
                scores = evaluator.score(batch)
        for i, bits in enumerate(schemes):
            classes = table.classes(bits)
            sizes = {key: len({table.people[r] for r in m}) for key, m in classes.items()}
            reached = {
                key: [table.reached(model, bits, key, m) for model in models]
                for key, m in classes.items()
            }
            unsafe = {
                key
                for key in classes
                if any(bad(m, r) for m, r in zip(models, reached[key], strict=True))
                or (given_k and sizes[key] < k)
            }
            left = kept(classes, sizes, unsafe, given_k, int(limit * rows + 1e-9))
            gone = [row for key in classes if key not in left for row in classes[key]]
            assert scores.suppressed[i] == len(gone)
            assert scores.violating[i] == sum(len(classes[key]) for key in unsafe)
            assert scores.k[i] == min((sizes[key] for key in left), default=0)
            assert scores.k_max[i] == max((sizes[key] for key in left), default=0)
            assert scores.classes[i] == len(left)
            assert scores.dcn[i] == sum(len(classes[key]) ** 2 for key in left) + rows * len(gone)
            if labelled:
                strangers = sum(
                    len(classes[key])
                    - max(map([table.label[r] for r in classes[key]].count, "xyz"))
                    for key in left
                )
                assert math.isclose(scores.ce[i], (len(gone) + strangers) / rows)
            for j, model in enumerate(models):
                values = [reached[key][j] for key in left]
                worst = min(values, default=0) if model.at_least else max(values, default=math.inf)
                assert scores.reached[i, j] == pytest.approx(worst, rel=1e-9, abs=2e-9), model
