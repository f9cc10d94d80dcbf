"""Compares how well a model predicts a column if it learns from the release or the source.

Needs scikit-learn, the extra `utility`. Both models are tested on the same rows of the source,
one on their groups and the other on their atoms.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from sqlanon.domain import Codes, Facet
from sqlanon.errors import UtilityError
from sqlanon.utility.released_classes import Flags, ReleasedClasses, generalized

MODELS = ("logistic", "forest")
FOLDS = 5
MOST_LABELS = 100
"""A column of more values is no label, but a number or a name."""
MOST_ROWS = 100_000
"""From more rows, this many are drawn: models take long, and the figure would be the same."""
MOST_CELLS = 10**8
"""The most cells of a full matrix: 400 megabytes."""

MISSING = 'scikit-learn is not installed; install it with: pip install "sqlanon[utility]"'


@dataclass(frozen=True)
class Accuracy:
    """Shares of rows that are predicted correctly, cross-validated.

    original  by a model that learned from the source
    released  by one that learned from the release
    baseline  by always saying the most frequent value
    """

    target: str
    model: str
    folds: int
    seed: int
    rows: int
    original: float
    released: float
    baseline: float

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Labelled:
    """Rows of the source: their atoms, and the number of their value of the target."""

    target: str
    codes: Codes
    labels: Codes

    @classmethod
    def of(cls, target: str, facet: Facet, seed: int) -> Labelled:
        """All rows that have a value, in an order that depends on the data alone."""
        tally = facet.tally
        assert tally.values is not None
        order = np.lexsort([tally.values, *tally.codes.T[::-1]])
        entries = np.repeat(order, tally.rows[order])
        entries = entries[tally.values[entries] < facet.domain.width]
        if len(entries) > MOST_ROWS:
            rng = np.random.default_rng(seed)
            entries = entries[np.sort(rng.permutation(len(entries))[:MOST_ROWS])]
        return cls(target, tally.codes[entries], tally.values[entries])


def is_available() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def accuracy(
    data: Labelled,
    classes: ReleasedClasses,
    *,
    model: str = "logistic",
    seed: int = 1,
    on_fold: Callable[[int], None] | None = None,
) -> Accuracy:
    """Trains and tests on the same folds; calls `on_fold` at the beginning of each.

    Rows that the release leaves out or marks are tested on but not learned from.
    """
    if model not in MODELS:
        raise UtilityError(f"there is no model {model!r}; choose {' or '.join(MODELS)}")
    if not is_available():
        raise UtilityError(MISSING)
    counts = np.bincount(data.labels)
    labels, rows = int((counts > 0).sum()), len(data.labels)
    if labels < 2 or labels > MOST_LABELS or rows < FOLDS:
        raise UtilityError(
            f"column {data.target!r} has {labels:,} different values in {rows:,} rows; to be "
            f"predicted it needs 2 to {MOST_LABELS} values and at least {FOLDS} rows"
        )
    sizes = [column.size for column in classes.scheme.columns]
    groups = [len(partition) for partition in classes.scheme.partitions]
    atoms = _features(data.codes, sizes, model)
    grouped = _features(generalized(classes.scheme, data.codes), groups, model)
    is_released = classes.hold(data.codes)
    fold_of = folds(data.labels, seed)
    original = released = 0
    for fold in range(FOLDS):
        if on_fold is not None:
            on_fold(fold + 1)
        test, train = fold_of == fold, fold_of != fold
        original += _right(atoms, data.labels, train, test, model, seed)
        released += _right(grouped, data.labels, train & is_released, test, model, seed)
    return Accuracy(
        target=data.target,
        model=model,
        folds=FOLDS,
        seed=seed,
        rows=rows,
        original=original / rows,
        released=released / rows,
        baseline=int(counts.max()) / rows,
    )


def folds(labels: Codes, seed: int) -> Codes:
    """The fold of each row; every value of the target is spread evenly over the folds."""
    shuffled = np.random.default_rng(seed).permutation(len(labels))
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    found = np.empty(len(labels), dtype=np.int32)
    found[order] = np.arange(len(labels)) % FOLDS
    return found


def _features(codes: Codes, sizes: list[int], model: str) -> Any:
    found = _one_hot(codes, sizes)
    is_small = codes.shape[0] * sum(sizes) <= MOST_CELLS
    # Trees grow several times as fast over a full matrix, and the same ones.
    return found.toarray().astype(np.float32) if model == "forest" and is_small else found


def _one_hot(codes: Codes, sizes: list[int]) -> Any:
    """A sparse matrix with one column per atom or group of every column."""
    from scipy.sparse import csr_matrix

    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows, columns = codes.shape
    places = (codes + offsets[:-1]).reshape(-1)
    starts = np.arange(0, rows * columns + 1, columns)
    shape = (rows, int(offsets[-1]))
    return csr_matrix((np.ones(len(places)), places, starts), shape=shape)


def _right(features: Any, labels: Codes, train: Flags, test: Flags, model: str, seed: int) -> int:
    """The number of test rows that a model predicts correctly."""
    learned = labels[train]
    if not len(learned):
        return 0  # nothing to learn from, and so nothing to say
    if (learned == learned[0]).all():
        return int((labels[test] == learned[0]).sum())
    fitted = _model(model, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says when it stopped early; what it learned counts
        fitted.fit(features[np.flatnonzero(train)], learned)
    predicted = fitted.predict(features[np.flatnonzero(test)])
    return int((predicted == labels[test]).sum())


def _model(name: str, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    if name == "forest":
        return RandomForestClassifier(n_estimators=100, random_state=seed % 2**32)
    return LogisticRegression(max_iter=1000)
