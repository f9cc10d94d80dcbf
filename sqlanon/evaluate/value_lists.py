"""Checks privacy models for columns with very many values: SQL counts, numpy compares.

Gives the same answers as sql/evaluate/models.sql, from the counts of sql/evaluate/values.sql.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlanon.domain import Hierarchy, Histogram, Tally, ValueDomain
from sqlanon.evaluate.coding import Numbers, joined
from sqlanon.evaluate.layout import FIRST_WORD_BITS, Layout
from sqlanon.evaluate.population_masks import PopulationMasks
from sqlanon.evaluate.scoring_sql import ScoringQuery, number_of_people
from sqlanon.evaluate.value_counts import Demands, ValueSets, of_people, of_rows
from sqlanon.metrics import UNBOUNDED, Detail, Floats, Ints
from sqlanon.privacy import ClassCounts
from sqlanon.render import Sql

CLASS, VALUE, POPULATION = range(3)
"""The kinds of rows in the answer."""


class ManyValues:
    """The classes of one histogram under some demands."""

    def __init__(
        self,
        histogram: Histogram,
        demands: Demands,
        sets: Mapping[str, ValueSets],
        label: str | None,
    ) -> None:
        self._histogram = histogram
        self._demands = demands
        self._sets = list(sets.values())
        self._numbers = {name: number for number, name in enumerate(sets)}
        self._totals = [each.totals for each in self._sets]
        self._label = label
        population = histogram.population
        self._population = None if population is None else PopulationMasks(population)

    asks_for_details = False
    """Every class comes back anyway."""
    can_roll_up = False

    def sql(self, table: str, query: ScoringQuery) -> Sql:
        """The query that counts the classes of candidates of a layout."""
        population = self._population
        return query.render(
            "values",
            table=table,
            values=_values(table),
            people=number_of_people(moves=self._histogram.tally.has_movers),
            population=None if population is None else _population(table),
            residents=None if population is None else population.people,
            fits=None if population is None else population.fits(query.words),
        )

    def tables(self, name: str, layout: Layout) -> dict[str, dict[str, Numbers]]:
        """The tables that the query reads, by name."""
        made = {name: _table(layout, self._histogram.tally)}
        parts = []
        for number, sets in enumerate(self._sets):
            tally = sets.facet.tally
            assert tally.values is not None
            numbers = np.full(len(tally), number, dtype=np.int32)
            columns = {"value": tally.values, "column_number": numbers}
            parts.append(_table(layout, tally) | columns)
        made[_values(name)] = joined(parts)
        if self._population is not None:
            made[_population(name)] = self._population.table(layout)
        return made

    def table_names(self, name: str) -> tuple[str, ...]:
        return _values(name), _population(name)

    def read(self, found: Mapping[str, Ints], layout: Layout, detail: Detail) -> dict[str, Ints]:
        """The classes by candidate, badness and size, and those that may be suppressed."""
        kind = found["kind"]
        is_class = kind == CLASS
        classes, place = _numbered([found[f"k{w}"] for w in range(layout.words)])
        people = _placed(len(classes), place, found["people"], is_class)
        rows = _placed(len(classes), place, found["n_rows"], is_class)
        real = people > 0  # some are of the population alone
        columns: dict[str, npt.NDArray[Any]] = {"size": people, "n_rows": rows}
        population = _placed(len(classes), place, found["people"], kind == POPULATION)
        for i, values in enumerate(self._reached(found, place, people, population)):
            columns[f"s{i}"] = values
        if self._label is not None:
            columns["minority"] = rows - self._majority(found, place, len(classes))
        columns |= {f"k{w}": classes[:, w] for w in range(layout.words)}
        columns["candidate"] = classes[:, 0] >> FIRST_WORD_BITS
        columns = {name: values[real] for name, values in columns.items()}
        columns["bad"] = self._bad(columns).astype(np.int64)
        return self._answer(columns, layout, detail)

    def _reached(
        self, found: Mapping[str, Ints], place: Ints, people: Ints, population: Ints
    ) -> Iterator[Floats]:
        """What every class reaches in each model."""
        for model in self._demands.models:
            if model.column is None:
                yield population.astype(np.float64)
                continue
            number = self._numbers[of_people(model.column)]
            owner, value, count = self._entries(found, place, number, "people")
            start = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
            held = owner[start]
            counts = CountLists(
                start,
                value,
                count,
                self._totals[number],
                people[held],
                self._sets[number].facet.domain,
                self._demands.hierarchies.get(model.column),
            )
            reached = np.zeros(len(people))
            with np.errstate(divide="ignore"):
                reached[held] = model.reached(counts)
            yield reached

    def _majority(self, found: Mapping[str, Ints], place: Ints, classes: int) -> Ints:
        assert self._label is not None
        owner, _, rows = self._entries(found, place, self._numbers[of_rows(self._label)], "n_rows")
        most = np.zeros(classes, dtype=np.int64)
        np.maximum.at(most, owner, rows)
        return most

    def _entries(
        self, found: Mapping[str, Ints], place: Ints, number: int, unit: str
    ) -> tuple[Ints, Ints, Ints]:
        """Class, value and count of every value of a column in a class, sorted."""
        chosen = (found["kind"] == VALUE) & (found["column_number"] == number)
        owner, value, count = place[chosen], found["value"][chosen], found[unit][chosen]
        # One number for both sorts faster than the two.
        order = np.argsort(owner * (int(value.max()) + 1) + value, kind="stable")
        return owner[order], value[order].astype(np.int64), count[order]

    def _bad(self, columns: Mapping[str, Ints]) -> npt.NDArray[np.bool_]:
        bad = np.zeros(len(columns["size"]), dtype=bool)
        if self._demands.below != UNBOUNDED:
            bad |= columns["size"] < self._demands.below
        for i, model in enumerate(self._demands.models):
            bad |= model.violated(np.asarray(columns[f"s{i}"], dtype=np.float64))
        return bad

    def _answer(
        self, columns: Mapping[str, Ints], layout: Layout, detail: Detail
    ) -> dict[str, Ints]:
        order = np.lexsort((columns["size"], -columns["bad"], columns["candidate"]))
        columns = {name: values[order] for name, values in columns.items()}
        keys = ("candidate", "bad", "size")
        new = np.any([columns[k][1:] != columns[k][:-1] for k in keys], axis=0)
        start = np.flatnonzero(np.append(True, new))
        squared = columns["n_rows"] * columns["n_rows"]
        sizes = {k: columns[k][start] for k in keys}
        sizes["n_rows"] = np.add.reduceat(columns["n_rows"], start)
        sizes["n_rows_squared"] = np.add.reduceat(squared, start)
        sizes["n_classes"] = np.diff(np.append(start, len(order)))
        if self._label is not None:
            sizes["minority"] = np.add.reduceat(columns["minority"], start)
        for i, model in enumerate(self._demands.models):
            worse = np.minimum if model.at_least else np.maximum
            sizes[f"s{i}"] = worse.reduceat(columns[f"s{i}"], start)
        if not detail.budget:
            return sizes
        return self._with_classes(sizes, columns, start, layout, detail)

    def _with_classes(
        self,
        sizes: dict[str, Ints],
        columns: Mapping[str, Ints],
        start: Ints,
        layout: Layout,
        detail: Detail,
    ) -> dict[str, Ints]:
        """The sizes, and each class that the rule may suppress."""
        before = np.concatenate([[0], np.cumsum(sizes["n_rows"])])
        candidate = sizes["candidate"]
        first = np.searchsorted(candidate, candidate)
        up_to = before[1:] - before[first]
        may = ((sizes["bad"] > 0) | (sizes["size"] < detail.below)) & (up_to <= detail.budget)
        group = np.repeat(np.arange(len(start)), sizes["n_classes"])
        small = may[group]
        words = [f"k{w}" for w in range(layout.words)]
        count = len(start)
        sizes |= {name: np.zeros(count, dtype=np.int64) for name in ("is_class", *words)}
        listed = {
            name: columns[name][small] if name in columns else np.zeros(int(small.sum()), np.int64)
            for name in sizes
        }
        listed["is_class"] = np.ones(int(small.sum()), dtype=np.int64)
        listed["n_classes"] = listed["is_class"]
        return {name: np.concatenate([sizes[name], listed[name]]) for name in sizes}


def _values(table: str) -> str:
    return f"{table}_values"


def _population(table: str) -> str:
    return f"{table}_population"


def _table(layout: Layout, tally: Tally) -> dict[str, Numbers]:
    words: Numbers = layout.row_words(tally.codes)
    columns: dict[str, Numbers] = {f"w{w}": words[:, w] for w in range(layout.words)}
    columns |= {"people": tally.people, "n_rows": tally.rows}
    return columns | {"mover": np.ma.masked_less(tally.mover, 0)}


def _numbered(words: list[Ints]) -> tuple[Numbers, Ints]:
    """The distinct keys in order, one row of words each, and the number of each entry's key.

    Like np.unique over rows, which compares byte by byte and takes ten times as long.
    """
    order = np.lexsort(words[::-1])
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([word[order][1:] != word[order][:-1] for word in words], axis=0)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return np.stack([word[order[new]] for word in words], axis=1), place


def _placed(size: int, place: Ints, values: Ints, chosen: npt.NDArray[np.bool_]) -> Ints:
    """Values by class, 0 for classes without one."""
    whole = np.zeros(size, dtype=np.int64)
    whole[place[chosen]] = values[chosen]
    return whole


class CountLists(ClassCounts):
    """The values of one column in many classes: entries sorted by class, then by value.

    Every class has an entry. `start` is where its entries begin; `value` and `count` are of the
    entries. `totals` counts the values of the whole source.
    """

    def __init__(
        self,
        start: Ints,
        value: Ints,
        count: Ints,
        totals: Ints,
        size: Ints,
        domain: ValueDomain | None = None,
        tree: Hierarchy | None = None,
    ) -> None:
        super().__init__(domain, tree)
        self._start, self._value, self._all_totals = start, value, totals
        self._class = np.repeat(np.arange(len(start)), self._lengths)
        self.size = size
        self.counts, self.totals = count, totals[value]
        self.whole, self.values = int(totals.sum()), len(totals)

    @cached_property
    def pairs(self) -> Ints:
        return np.add.reduceat(self.counts, self._start)

    @property
    def _lengths(self) -> Ints:
        return np.diff(np.append(self._start, len(self._value)))

    def grouped(self, groups: Ints) -> CountLists:
        _, groups = np.unique(groups, return_inverse=True)
        totals = np.bincount(groups, self._all_totals).astype(np.int64)
        keys = self._class * len(totals) + groups[self._value]
        held, entry = np.unique(keys, return_inverse=True)
        count = np.bincount(entry, self.counts).astype(np.int64)
        start = np.flatnonzero(np.diff(held // len(totals), prepend=-1))
        return CountLists(start, held % len(totals), count, totals, self.size)

    def of_each(self, per_class: Floats) -> Floats:
        return per_class[self._class]

    def summed(self, each: Floats) -> Floats:
        return np.add.reduceat(each, self._start)

    def largest(self, each: Floats) -> Floats:
        return np.maximum.reduceat(each, self._start)

    def distinct(self) -> Ints:
        return self._lengths

    def least(self) -> Ints:
        least = np.minimum.reduceat(self.counts, self._start)
        return np.where(self._lengths < self.values, 0, least)

    def most(self, number: int) -> Ints:
        if number == 1:
            return np.maximum.reduceat(self.counts, self._start)
        order = np.lexsort((-self.counts, self._class))
        rank = np.arange(len(order)) - self._start[self._class]
        return np.add.reduceat(np.where(rank < number, self.counts[order], 0), self._start)

    def along(self) -> Floats:
        """Sums the ordered distance between the values of a class.

        Between two values of a class its cumulated share is constant and that of the source
        grows, so their difference changes its sign at most once.
        """
        value, start, last = self._value, self._start, self.values
        cumulated = np.cumsum(self._all_totals)
        sums = np.concatenate([[0.0], np.cumsum(cumulated.astype(np.float64))])
        before = np.concatenate([[0], np.cumsum(self.counts)])
        level = (before[1:] - before[start][self._class]) * self.whole
        follows = np.append(value[1:], last)
        follows[np.append(start[1:], len(value)) - 1] = last
        pairs = self.pairs[self._class]
        turn = np.searchsorted(cumulated, level // pairs, side="right")
        turn = np.clip(turn, value, follows)
        flat = level.astype(np.float64) * (2 * turn - value - follows)
        grown = pairs.astype(np.float64) * (sums[value] + sums[follows] - 2 * sums[turn])
        work = np.add.reduceat(flat + grown, start)
        # Below its first value a class has held nothing.
        return np.asarray(work + self.pairs * sums[value[start]])

    def positive(self, cell: Floats) -> Floats:
        return np.maximum(cell, 0)

    def absolute(self, cell: Floats) -> Floats:
        return np.abs(cell)

    def ln(self, cell: Floats) -> Floats:
        return np.log(cell)

    def exp(self, cell: Floats) -> Floats:
        return np.exp(cell)

    def infinite_at_0(self, divisor: Floats, number: Floats) -> Floats:
        return np.where(divisor == 0, np.inf, number)
