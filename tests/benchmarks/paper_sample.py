"""The table of the GENITOR paper: what it tells of its data, and choices of our own for the rest.

Told: 15,000 rows drawn at random, eight columns, 92 bits, of which 68 are of four constrained
columns; about 2^42 valid strings; seven ages, 20 to 80; the tree of workclass, which has 9
valid partitions (its Figure 2). Not told: which rows, the order of values, the other trees.
Countries stand below regions here, without levels in between: as much freedom as the number of
valid strings leaves them, which with the trees of `hierarchies/` is 2^41.2.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from adult import NAMES, hierarchy_of

from sqlanon import datasets
from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.column import Family
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.histogram import Histogram
from sqlanon.engines.registry import open_source

WORKCLASS = {
    "Self-employed": ("Self-emp-inc", "Self-emp-not-inc"),
    "Government": ("Federal-gov", "State-gov", "Local-gov"),
    "Private": ("Private",),
    "Unemployed": ("Without-pay", "Never-worked"),
}
"""Figure 2. Nobody among the complete records never worked, but the value has its bit."""
YOUNGEST, OLDEST = 20, 80
REGION = 2
"""The level of regions in the hierarchy of countries."""


def sampled_rows(rows: int = 15_000, seed: int = 1) -> Histogram:
    """The paper's columns of a random sample."""
    table = pq.read_table(datasets.adult_path())
    chosen = np.random.default_rng(seed).permutation(len(table))[:rows]
    table = table.take(np.sort(chosen))
    decades = np.clip(table["age"].to_numpy() // 10 * 10, YOUNGEST, OLDEST)
    table = table.set_column(table.column_names.index("age"), "age", pa.array(decades))
    trees = {
        "workclass": _workclass(),
        "education": hierarchy_of("education"),
        "marital-status": hierarchy_of("marital-status"),
        "native-country": _countries(),
    }
    age = Quasi("age", range=(YOUNGEST, OLDEST + 10), granularity=10)
    others = [
        Quasi(name, Family.TAXONOMIC, hierarchy=trees[name])
        if name in trees
        else Quasi(name, hierarchy=hierarchy_of(name))
        for name in NAMES[1:-1]
    ]
    return count(open_source(data=table), [age, *others])


def _workclass() -> Hierarchy:
    rows = [[value, group, "*"] for group, values in WORKCLASS.items() for value in values]
    return Hierarchy.from_rows(rows, "Figure 2")


def _countries() -> Hierarchy:
    levels = hierarchy_of("native-country").levels
    rows = zip(levels[0], levels[REGION], levels[-1], strict=True)
    return Hierarchy.from_rows([list(row) for row in rows], "countries by region")
