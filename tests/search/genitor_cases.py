"""Columns, spaces and problems for the tests of GENITOR, and what is valid by definition."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st
from plain_scores import plain_scores
from scheme_columns import allows, columns

from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Bits, Column, Family, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.space import Batch, Space
from sqlanon.engines.protocol import Kind
from sqlanon.metrics.preference import Preference
from sqlanon.metrics.scores import Scores
from sqlanon.search.problem import Problem

# Figure 2 of the paper: A self-employed incorporated, B not incorporated; C federal, D state,
# E local government; F private; G without pay, H never worked.
WORKCLASS = [
    ("A", "self", "*"), ("B", "self", "*"),
    ("C", "government", "*"), ("D", "government", "*"), ("E", "government", "*"),
    ("F", "private", "*"),
    ("G", "unpaid", "*"), ("H", "unpaid", "*"),
]  # fmt: skip


def column(
    rows: Sequence[Sequence[str]] | int,
    family: Family = Family.TAXONOMIC,
    *,
    null: bool = False,
    name: str = "c",
    levels: tuple[int, int | None] = (0, None),
) -> Column:
    """A column with the hierarchy of the rows, or so many values without one."""
    if isinstance(rows, int):
        domain = ValueDomain(name, Kind.INTEGER, tuple(range(rows)), null)
        return Column(domain, None, family, 1.0, *levels)
    tree = Hierarchy.from_rows(rows, "a test")
    return Column(ValueDomain(name, Kind.TEXT, tree.leaves, null), tree, family, 1.0, *levels)


def bits(text: str) -> Bits:
    """Bits as the paper prints them."""
    return np.array([c == "1" for c in text if c in "01"], dtype=bool)


def text(string: Bits) -> str:
    return "".join("1" if bit else "0" for bit in string)


def all_strings(positions: int) -> list[Bits]:
    return [np.array(b, dtype=bool) for b in itertools.product([False, True], repeat=positions)]


def valid_strings(of: Column) -> list[Bits]:
    """What the family and the limits allow, one by one."""
    return [b for b in all_strings(of.positions) if allows(of, Partition.from_bits(b))]


def is_valid(space: Space, string: Bits) -> bool:
    return all(
        allows(c, Partition.from_bits(string[space.segment(j)]))
        for j, c in enumerate(space.columns)
    )


def spaces(most: int = 6) -> st.SearchStrategy[Space]:
    return st.lists(columns(most=most, limits=True), min_size=1, max_size=3).map(Space)


@st.composite
def spaces_with_parents(draw: st.DrawFn) -> tuple[Space, Bits, Bits]:
    space = draw(spaces())
    choices = [valid_strings(c) for c in space.columns]
    first, second = (
        np.concatenate([draw(st.sampled_from(each)) for each in choices]) for _ in range(2)
    )
    return space, first, second


def scripted(space: Space, judge: Callable[[Bits], tuple[int, int]], *, k: int = 2) -> Problem:
    """A problem in which `judge` says (k, loss) of a bit string."""

    def evaluate(batch: Batch) -> Scores:
        parts = [t.bits(batch.ids[:, j]) for j, t in enumerate(space.tables)]
        judged = np.array([judge(string) for string in np.concatenate(parts, axis=1)])
        zeros = np.zeros(len(batch))
        counts = zeros.astype(np.int64)
        return plain_scores(
            k=judged[:, 0], k_max=counts, classes=counts, suppressed=counts, nwp=zeros,
            necd=zeros, glm=zeros, glm_share=zeros, dcn=judged[:, 1], ce=zeros,
            glm_units=counts, rows_below=counts,
        )  # fmt: skip

    def column_loss(batch: Batch) -> np.ndarray:
        return np.zeros(batch.ids.shape, dtype=np.int64)

    preference = Preference(loss=0.2, bias=1.0)
    return Problem(space, evaluate, column_loss, 10, k, preference, "dcn")
