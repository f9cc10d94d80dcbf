"""Random tables with random schemes and rules of suppression, and their twins."""

from __future__ import annotations

from collections.abc import Hashable

import pyarrow as pa
from hypothesis import strategies as st
from random_cases import Case, cases
from utility_oracle import Released

from sqlanon.counting.counter import count
from sqlanon.domain import Generalized
from sqlanon.domain.histogram import Histogram
from sqlanon.domain.scheme import Scheme
from sqlanon.engines.protocol import Source
from sqlanon.engines.registry import open_source
from sqlanon.release.order import Order
from sqlanon.utility.released_classes import ReleasedClasses, released_classes


def opened(case: Case) -> Source:
    columns = {f.quasi.name: pa.array(f.cells, f.type) for f in case.fields}
    if case.subject is not None:
        columns["who is it"] = pa.array(case.subject)
    return open_source(data=pa.table(columns))


class Prepared:
    """A random table with a random scheme and rule, in the package and as a twin."""

    def __init__(self, case: Case, k: int, suppress: bool, mark: bool) -> None:
        self.case = case
        self.source = opened(case)
        subject = None if case.subject is None else "who is it"
        quasis = [f.quasi for f in case.fields]
        self.histogram: Histogram = count(self.source, quasis, subject=subject)
        bits = case.random_bits()
        self.scheme: Scheme = case.scheme(self.histogram, bits)
        pairs = zip(self.scheme.columns, self.scheme.partitions, strict=True)
        self.recipe = Order(
            self.source.relation,
            tuple(Generalized(c, p, self.source.column(c.name).type) for c, p in pairs),
            k=k,
            suppress=suppress,
            marker="(suppressed)" if suppress and mark else None,
            subject=subject,
        )
        people = case.subject or list(range(case.rows))
        self.twin = Released(case.oracle(bits), people, k, suppress, mark)

    def atoms(self, j: int) -> list[Hashable]:
        field = self.case.fields[j]
        return [*field.atoms, None] if field.has_null else field.atoms

    def classes(self) -> ReleasedClasses:
        return released_classes(self.source.engine, self.recipe, self.scheme)


prepared = st.builds(Prepared, cases(), st.integers(1, 4), st.booleans(), st.booleans())
