"""Counting a source: rows, tuples, people and further columns, compared with pandas."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sqlanon.counting.binding import Quasi
from sqlanon.counting.counter import count
from sqlanon.domain.atoms import IntervalDomain, ValueDomain
from sqlanon.domain.histogram import Histogram, Tally
from sqlanon.engines.protocol import Kind
from sqlanon.engines.registry import open_source

ROWS = [  # who, age, city, label, disease
    ("p1", 30, "Rome", "yes", "flu"),
    ("p1", 30, "Rome", "no", "flu"),
    ("p2", 30, "Rome", "yes", None),
    ("p3", 41, None, "yes", "cold"),
    ("p3", 30, "Rome", "yes", "cold"),  # p3 moves between two tuples
    ("p4", 41, None, "no", "flu"),
    ("p5", None, "Oslo", "no", "flu"),
    ("p5", None, "Oslo", "no", "cold"),
]
NAMES = ["who", "age", "city", "label", "disease"]
DATA = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)})
QUASIS = [Quasi("age"), Quasi("city")]


def counted(data: pa.Table = DATA, quasis: list[Quasi] | None = None, **options) -> Histogram:
    source = open_source(data=data)
    try:
        return count(source, quasis or QUASIS, **options)
    finally:
        source.engine.close()


def decoded(histogram: Histogram, tally: Tally, facet: str | None = None) -> list[tuple]:
    """The entries with their values instead of codes: tuple, value, (rows, people, mover)."""
    domains = [c.domain for c in histogram.space.columns]
    entries = []
    for i in range(len(tally)):
        cells = [_value(d, code) for d, code in zip(domains, tally.codes[i], strict=True)]
        if facet is not None:
            assert tally.values is not None
            cells.append(_value(histogram.facets[facet].domain, tally.values[i]))
        entries.append((*cells, tally.rows[i], tally.people[i], tally.mover[i]))
    return sorted(entries, key=repr)


def _value(domain: ValueDomain | IntervalDomain, code: int) -> object:
    assert isinstance(domain, ValueDomain)
    return None if code == domain.width else domain.values[code]


def expected(*columns: str) -> list[tuple]:
    """Rows by tuple, counted with a Counter; every row a person, nobody moves."""
    places = [NAMES.index(name) for name in columns]
    counts = Counter(tuple(row[i] for i in places) for row in ROWS)
    return sorted([(*cells, n, n, -1) for cells, n in counts.items()], key=repr)


def test_rows_by_tuple() -> None:
    histogram = counted()
    assert (histogram.rows, histogram.people, histogram.subject) == (8, 8, None)
    assert decoded(histogram, histogram.tally) == expected("age", "city")
    assert [m.tolist() for m in histogram.marginals] == [[4, 2, 2], [2, 4, 2]]


def test_further_columns_are_counted_beside_the_tuples() -> None:
    histogram = counted(facets=["label", "disease"])
    assert decoded(histogram, histogram.tally) == expected("age", "city")
    for name in ("label", "disease"):
        tally = histogram.facets[name].tally
        assert decoded(histogram, tally, name) == expected("age", "city", name)
    domain = histogram.facets["disease"].domain
    assert (domain.values, domain.has_null) == (("cold", "flu"), True)


def test_people_who_stay_are_counted_and_movers_named() -> None:
    histogram = counted(subject="who")
    assert (histogram.rows, histogram.people) == (8, 5)
    assert decoded(histogram, histogram.tally) == sorted(
        [
            (30, "Rome", 3, 2, -1),  # p1 twice, p2
            (30, "Rome", 1, 0, 0),  # p3 here
            (41, None, 1, 0, 0),  # and there
            (41, None, 1, 1, -1),  # p4
            (None, "Oslo", 2, 1, -1),  # p5 twice
        ],
        key=repr,
    )


def test_people_by_value_of_a_further_column() -> None:
    histogram = counted(subject="who", facets=["label", "disease"])
    assert decoded(histogram, histogram.facets["label"].tally, "label") == sorted(
        [
            (30, "Rome", "yes", 2, 2, -1),  # p1, p2
            (30, "Rome", "no", 1, 1, -1),  # p1 once more
            (30, "Rome", "yes", 1, 0, 0),
            (41, None, "yes", 1, 0, 0),
            (41, None, "no", 1, 1, -1),
            (None, "Oslo", "no", 2, 1, -1),
        ],
        key=repr,
    )
    assert decoded(histogram, histogram.facets["disease"].tally, "disease") == sorted(
        [
            (30, "Rome", "flu", 2, 1, -1),
            (30, "Rome", None, 1, 1, -1),
            (30, "Rome", "cold", 1, 0, 0),
            (41, None, "cold", 1, 0, 0),
            (41, None, "flu", 1, 1, -1),
            (None, "Oslo", "flu", 1, 1, -1),
            (None, "Oslo", "cold", 1, 1, -1),
        ],
        key=repr,
    )


def test_a_move_within_one_atom_is_none() -> None:
    """Ages 30 and 34 lie in one interval of ten years, so their owner does not move."""
    data = pa.table({"who": ["p", "p", "q"], "age": [30, 34, 41]})
    histogram = counted(data, [Quasi("age", range=(0, 100), granularity=10)], subject="who")
    assert not histogram.tally.has_movers
    assert sorted(histogram.tally.people.tolist()) == [1, 1]
    assert counted(data, [Quasi("age")], subject="who").tally.has_movers


@pytest.mark.parametrize(
    "identity",
    [
        pa.array(["x", "x", "y"]).dictionary_encode(),
        pa.array([2**64 - 1, 2**64 - 1, 0], pa.uint64()),
        pa.array([0.0, -0.0, 1.5]),
        pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 1), dt.date(1, 1, 1)]),
        pa.array([True, True, False]),
    ],
)
def test_any_kind_of_subject(identity: pa.Array) -> None:
    histogram = counted(pa.table({"a": [1, 2, 1], "who": identity}), [Quasi("a")], subject="who")
    assert histogram.people == 2
    assert sorted(decoded(histogram, histogram.tally)) == [
        (1, 1, 0, 0),
        (1, 1, 1, -1),
        (2, 1, 0, 0),
    ]


@pytest.mark.parametrize(
    ("type_", "cells", "kind", "values"),
    [
        (pa.int8(), [3, -1], Kind.INTEGER, (-1, 3)),
        (pa.float64(), [math.inf, 0.0, -0.0, -math.inf], Kind.FLOAT, (-math.inf, 0.0, math.inf)),
        (pa.float32(), [0.5, -0.0], Kind.FLOAT, (0.0, 0.5)),
        (pa.string(), ["b", "", "a", "Z", "é"], Kind.TEXT, ("", "Z", "a", "b", "é")),
        (pa.bool_(), [True, False], Kind.BOOLEAN, (False, True)),
        (pa.date32(), [dt.date(2000, 1, 2)], Kind.DATE, (dt.date(2000, 1, 2),)),
    ],
)
def test_observed_domains(type_: pa.DataType, cells: list, kind: Kind, values: tuple) -> None:
    histogram = counted(pa.table({"a": pa.array([*cells, None], type_)}), [Quasi("a")])
    domain = histogram.space.columns[0].domain
    assert domain == ValueDomain("a", kind, values, has_null=True)
    assert histogram.marginals[0].sum() == len(cells) + 1


def test_every_nan_is_one_value_and_the_last_number() -> None:
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001], np.uint64)
    cells = [*bits.view(np.float64), math.inf, None]
    histogram = counted(
        pa.table({"a": pa.array(cells, pa.float64(), from_pandas=False)}), [Quasi("a")]
    )
    assert histogram.marginals[0].tolist() == [1, 3, 1]


def test_intervals_are_closed_on_the_left_and_the_last_on_both_sides() -> None:
    data = pa.table({"a": [0.0, 4.999, 5.0, 10.0, 11.0, None]})
    histogram = counted(data, [Quasi("a", range=(0, 11), granularity=5)])
    assert histogram.marginals[0].tolist() == [2, 1, 2, 1]


def test_declared_values_without_rows_are_atoms() -> None:
    histogram = counted(quasis=[Quasi("city", values=("Rome", "Bonn", "Oslo"))])
    domain = histogram.space.columns[0].domain
    assert domain == ValueDomain("city", Kind.TEXT, ("Rome", "Bonn", "Oslo"), has_null=True)
    assert histogram.marginals[0].tolist() == [4, 0, 2, 2]


def test_one_group_by_and_nothing_else() -> None:
    source = open_source(data=DATA)
    with source.engine.tracer.watch() as seen:
        count(source, QUASIS, facets=["label", "disease"])
    assert len(seen) == 1
    assert seen[0].sql.count("GROUP BY") == 1
    with source.engine.tracer.watch() as seen:
        count(source, QUASIS, subject="who", facets=["label", "disease"])
    assert len(seen) == 4  # the people, the tuples, and each further column


def test_fingerprint_ignores_the_order_of_rows() -> None:
    shuffled = DATA.take([3, 1, 7, 0, 2, 6, 5, 4])
    for options in ({}, {"facets": ["label"]}, {"facets": ["disease", "label"], "subject": "who"}):
        assert counted(**options).fingerprint == counted(shuffled, **options).fingerprint


def test_fingerprint_changes_with_anything_that_is_counted() -> None:
    def changed(name: str, row: int, value: object) -> pa.Table:
        cells = DATA[name].to_pylist()
        cells[row] = value
        return DATA.set_column(DATA.column_names.index(name), name, pa.array(cells))

    options = {"subject": "who", "facets": ["label"]}
    renamed = DATA.rename_columns([*NAMES[:1], "years", *NAMES[2:]])
    prints = [
        counted(**options),
        counted(),
        counted(facets=["label"]),
        counted(subject="who"),
        counted(facets=["disease"]),
        counted(changed("age", 0, 31), **options),
        counted(changed("age", 0, 41), **options),
        counted(changed("age", 0, None), **options),
        counted(changed("city", 3, "Rome"), **options),
        counted(changed("label", 2, "no"), **options),
        counted(changed("who", 5, "p3"), **options),
        counted(DATA.slice(0, 7), **options),
        counted(pa.concat_tables([DATA, DATA]), **options),
        counted(quasis=[*reversed(QUASIS)], **options),
        counted(quasis=QUASIS[:1], **options),
        counted(renamed, [Quasi("years"), QUASIS[1]], **options),
        counted(quasis=[Quasi("age", values=(30, 41, 50)), QUASIS[1]], **options),
        counted(quasis=[Quasi("age", values=(41, 30)), QUASIS[1]], **options),
    ]
    assert len({h.fingerprint for h in prints}) == len(prints)
    assert counted(changed("disease", 0, "x"), **options).fingerprint == prints[0].fingerprint
