"""What evaluate.sql answers, made into measurements."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from sqlanon.evaluate.layout import Layout
from sqlanon.measurement import Detail, Ints, Measurement
from sqlanon.scheme import Batch


def read_answer(
    answer: Mapping[str, Ints], layout: Layout, batch: Batch, losses: Ints, detail: Detail
) -> list[Measurement]:
    """One measurement a scheme of `batch`, in its order."""
    sizes = dict(answer)
    if detail.budget:
        is_class = answer["is_class"] == 1
        small = _small_losses({k: v[is_class] for k, v in answer.items()}, layout, batch)
        sizes = {k: v[~is_class] for k, v in answer.items()}
    else:
        small = [np.zeros((0, losses.shape[1]), dtype=np.int64)] * len(batch)
    order = np.lexsort((sizes["size"], sizes["candidate"]))
    sizes = {name: values[order] for name, values in sizes.items()}
    ends = np.searchsorted(sizes["candidate"], np.arange(len(batch) + 1))
    size, classes, rows = sizes["size"], sizes["n_classes"], sizes["n_rows"]
    squared = sizes.get("n_rows_squared", size * rows)
    minority = sizes.get("minority")
    return [
        Measurement(
            loss=losses[i],
            size=size[a:b],
            classes=classes[a:b],
            rows=rows[a:b],
            rows_squared=squared[a:b],
            minority=None if minority is None else minority[a:b],
            small_loss=small[i],
            detail=detail,
        )
        for i, (a, b) in enumerate(pairwise(ends))
    ]


def _small_losses(classes: Mapping[str, Ints], layout: Layout, batch: Batch) -> list[Ints]:
    """For each scheme: the loss of the rows in classes of each suppressible size, by column."""
    candidate, rows = classes["candidate"], classes["n_rows"]
    order = np.lexsort((classes["size"], candidate))
    candidate, rows, size = candidate[order], rows[order], classes["size"][order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (candidate[1:] != candidate[:-1]) | (size[1:] != size[:-1])
    starts = np.flatnonzero(first)
    words = np.stack([classes[f"k{w}"][order] for w in range(layout.words)], axis=1)
    totals = np.zeros((len(starts), len(layout.codings)), dtype=np.int64)
    for j, coding in enumerate(layout.codings):
        atoms = coding.group_sizes(layout.column_key(words, j), batch.ids[candidate, j])
        if len(starts):
            totals[:, j] = np.add.reduceat((atoms - 1) * rows, starts)
    ends = np.searchsorted(candidate[starts], np.arange(len(batch) + 1))
    return [totals[a:b] for a, b in pairwise(ends)]


def with_suppressible(sizes: Mapping[str, Ints], detail: Detail) -> Ints:
    """The candidates whose smallest class size fits into the budget of a rule."""
    order = np.lexsort((sizes["size"], sizes["candidate"]))
    candidate, size = sizes["candidate"][order], sizes["size"][order]
    first = np.flatnonzero(np.append(True, candidate[1:] != candidate[:-1]))
    fits = (size[first] < detail.below) & (sizes["n_rows"][order][first] <= detail.budget)
    return candidate[first][fits]
