"""Searches: they see a space, a way to score batches and a seeded generator, and no SQL."""

from __future__ import annotations

from sqlanon.search.auto import auto
from sqlanon.search.fronts import bits_of, join, take
from sqlanon.search.genitor import genitor
from sqlanon.search.lattice.exact import exhaustive, front, optimal
from sqlanon.search.lattice.poka import poka
from sqlanon.search.method import MANY, METHODS, Method, register
from sqlanon.search.multidimensional import TreeSettings, cut_tree, labels_of, uncut
from sqlanon.search.nsga2 import nsga2
from sqlanon.search.outcome import (
    UNREPEATABLE,
    Limits,
    Outcome,
    Progress,
    Watch,
    coarsest,
)
from sqlanon.search.problem import Problem, exact_loss
from sqlanon.search.result import (
    LITTLE_IS_KEPT,
    Kept,
    SearchResult,
    Solution,
    descriptions,
    format_score,
    kept_of,
    read_kept,
    warnings_of,
)
from sqlanon.search.several_k import (
    MARKED_AND_ENDED,
    MARKED_FALL_SHORT,
    EveryK,
    better_of,
    together,
    with_publishable_choice,
)
from sqlanon.search.walk.reference_direction import METHOD as WALK
from sqlanon.search.walk.reference_direction import MOST_POINTS, Step, Walk, WalkSettings
