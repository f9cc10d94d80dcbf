"""Says before a large count how long it takes and how many rows it yields."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence

from sqlanon.engines import Estimates, Source
from sqlanon.wording import ANNOUNCED, counted

MANY = 100_000
LONG = 2.0
"""Different rows, or seconds, from which on a count is announced."""

_log = logging.getLogger(ANNOUNCED)


def say_expected(source: Source, sizes: Mapping[str, float]) -> None:
    """Logs the seconds of a large count and its distinct tuples.

    `sizes` bounds the number of atoms of each column. Nothing is said where the database has no
    statistics of them.
    """
    engine = source.engine
    found = engine.statistics(source.relation) if isinstance(engine, Estimates) else None
    if found is None or not sizes.keys() <= found.distinct.keys():
        return
    tuples = expected_tuples(found.rows, [min(found.distinct[n], s) for n, s in sizes.items()])
    if tuples > MANY or found.seconds > LONG:
        _log.info(
            "counting about %s of %s takes about %.0f s; at most about %s are expected",
            counted(found.rows, "row"),
            source.name,
            max(found.seconds, 1.0),
            counted(tuples, "different tuple"),
        )


def expected_tuples(rows: int, sizes: Sequence[float]) -> int:
    """How many tuples occur if the values of all columns are equally frequent and independent.

    Any other distribution is expected to have fewer.
    """
    possible = math.prod(sizes)
    if possible <= 1:
        return round(possible)
    return round(-possible * math.expm1(rows * math.log1p(-1 / possible)))
