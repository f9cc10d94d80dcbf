"""Checks privacy models for classes: chooses the way, and does it in SQL for few values.

A class is bad if it violates a model, or is smaller than the required k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from sqlglot import exp

from sqlanon.domain import Codes, Histogram, Tally
from sqlanon.errors import EvaluationError
from sqlanon.evaluate.coding import Numbers, joined
from sqlanon.evaluate.layout import Layout
from sqlanon.evaluate.population_masks import PopulationMasks
from sqlanon.evaluate.scoring_sql import ScoringQuery, bigint, column, summed
from sqlanon.evaluate.value_counts import (
    CountCells,
    Demands,
    Packing,
    ValueSets,
    of_people,
    of_rows,
)
from sqlanon.evaluate.value_lists import ManyValues
from sqlanon.metrics import UNBOUNDED, Detail, Ints
from sqlanon.privacy import Model
from sqlanon.render import Sql

MOST_COUNTS = 128
"""So many values of sensitive columns have counts of their own in every class; of more, a class
lists those that it holds."""


class Constraints(Protocol):
    """Queries the classes of a batch of schemes, and which of these are bad.

    `read` returns the classes by candidate, badness and size, and with is_class = 1 each class
    that a rule may suppress.
    """

    asks_for_details: bool
    can_roll_up: bool

    def sql(self, table: str, query: ScoringQuery) -> Sql: ...

    def tables(self, name: str, layout: Layout) -> dict[str, dict[str, Numbers]]: ...

    def table_names(self, name: str) -> tuple[str, ...]: ...

    def read(
        self, found: Mapping[str, Ints], layout: Layout, detail: Detail
    ) -> dict[str, Ints]: ...


def constraints_for(
    histogram: Histogram, demands: Demands, label: str | None
) -> Constraints | None:
    """Builds the SQL that checks privacy models for every class; None without models."""
    if not demands.models:
        return None
    sets: dict[str, ValueSets] = {}
    for model in demands.models:
        if model.needs_population and histogram.population is None:
            raise EvaluationError("k-map needs a population, and none was counted")
        if model.column is not None and of_people(model.column) not in sets:
            made = _sets_of(histogram, model.column, f"c{len(sets)}")
            made.only_occur = all(
                each.asks_which_occur for each in demands.models if each.column == model.column
            )
            sets[of_people(model.column)] = made
    if label is not None:
        sets[of_rows(label)] = _sets_of(histogram, label, f"c{len(sets)}", by_rows=True)
    values = sum(each.values for each in sets.values())
    kind = FewValues if values <= MOST_COUNTS else ManyValues
    return kind(histogram, demands, sets, label)


def _sets_of(histogram: Histogram, column: str, name: str, *, by_rows: bool = False) -> ValueSets:
    facet = histogram.facets.get(column)
    if facet is None:
        raise EvaluationError(f"the sensitive column {column!r} was not counted")
    return ValueSets(name, facet, by_rows)


class FewValues:
    """The classes of one histogram under some demands, judged in SQL."""

    asks_for_details = True
    """The classes that may be suppressed come back only where the query asks for them."""
    can_roll_up = True

    def __init__(
        self,
        histogram: Histogram,
        demands: Demands,
        sets: Mapping[str, ValueSets],
        label: str | None,
    ) -> None:
        self._histogram = histogram
        self._demands = demands
        self._label = label
        self._sets = sets
        self.statistics = {f"s{i}": self._statistic(m) for i, m in enumerate(demands.models)}
        self._majority = self._majority_of(label)
        population = histogram.population
        self._population = None if population is None else PopulationMasks(population)
        self._packing = Packing(list(self._sets.values()), histogram.rows)

    def _statistic(self, model: Model) -> exp.Expr:
        column = model.column
        counts = CountCells(
            None if column is None else self._sets[of_people(column)],
            self._demands.hierarchies.get(column or ""),
            one_value_each=self._histogram.subject is None,
        )
        found: exp.Expr = model.reached(counts).single
        return found

    def _majority_of(self, label: str | None) -> exp.Expr | None:
        if label is None:
            return None
        found: exp.Expr = CountCells(self._sets[of_rows(label)]).most(1).single
        return found

    def sql(self, table: str, query: ScoringQuery) -> Sql:
        """The query that scores candidates of a layout."""
        parts = self._parts(table, query)
        measured, worst = dict(self.statistics), self._worst
        if self._majority is not None:
            minority = exp.Sub(this=column("n_rows"), expression=self._majority)
            measured = {"minority": minority} | measured
            worst = {"minority": summed(column("minority"))} | worst
        own = {name: column(name) for name in self.counters}
        nothing = dict.fromkeys(["n_rows_squared", *worst], exp.convert(0))
        return query.render(
            "models_in_parts" if parts else "models",
            table=table,
            masks=query.masks("w"),
            sums=self._added(own),
            counts=self._of_part(own),
            parts=list(parts),
            **{name: cell for part in parts.values() for name, cell in part.items()},
            totals=self._of_part(own | {"population": column("population")}),
            unpacked=self.unpacked,
            has_population=self._population is not None,
            measured=measured,
            violated=self.violated,
            worst=worst,
            of_class={"n_rows": column("n_rows")} | nothing | {"n_classes": exp.convert(1)},
        )

    def _parts(self, table: str, query: ScoringQuery) -> dict[str, dict[str, object]]:
        """The tables and cells of what is counted beside the tuples, by name of the file."""
        found: dict[str, dict[str, object]] = {}
        if self._moves:
            person = self._of_part({"p0": exp.convert(1)})
            found["moving"] = {"movers": _movers(table), "one_person": person}
        if self._moves and self._by_people:
            packed = {f"p{word}": column(f"p{word}") for word in range(self._packing.words)}
            found["moving_values"] = {
                "values": _moving_values(table),
                "packed": packed,
                "one_value": self._of_part(packed),
            }
        if self._population is not None:
            mover = {"mover": column("mover")} if self._population.has_movers else {}
            found["population"] = {
                "population": _population(table),
                "population_masks": query.masks(*self._population.names) | mover,
                "residents": self._of_part({}) | {"population": self._population.people},
                "fits": self._population.fits(query.words),
            }
        return found

    @property
    def counters(self) -> dict[str, type[exp.Func]]:
        """What is counted of a tuple, and how the counts of several are put together."""
        words = [f"p{word}" for word in range(self._packing.words)]
        occurring = [word for sets in self._packing.sets for word in sets.words]
        rows = ["n_rows"] * (self._histogram.subject is not None)
        return {
            **dict.fromkeys(words, exp.Sum),
            **dict.fromkeys(occurring, exp.BitwiseOrAgg),
            **dict.fromkeys(rows, exp.Sum),
        }

    def _added(self, numbers: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
        """The counters of several rows, from what each row adds; nothing unless it is named."""
        return {
            name: bigint(kind(this=numbers.get(name, exp.convert(0)).copy()))
            for name, kind in self.counters.items()
        }

    def _of_part(self, numbers: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
        """The same beside the people of a population, if there is one."""
        if self._population is None:
            return self._added(numbers)
        population = summed(numbers.get("population", exp.convert(0)))
        return self._added(numbers) | {"population": population}

    @property
    def unpacked(self) -> dict[str, exp.Expr]:
        """What a class holds, each count by itself."""
        people = self._unpacked_from(0, 0)
        found = {"n_rows": people if self._histogram.subject is None else column("n_rows")}
        if self._population is not None:
            found["population"] = column("population")
        found |= {name: column(name) for sets in self._packing.sets for name in sets.words}
        found |= {f.name: self._unpacked_from(f.word, f.shift) for f in self._packing.fields}
        return found | {"size": people.copy()}

    def _unpacked_from(self, word: int, shift: int) -> exp.Expr:
        """The count that begins at a bit of a word."""
        packed: exp.Expr = column(f"p{word}")
        if shift:
            moved = exp.BitwiseRightShift(this=packed, expression=exp.convert(shift))
            packed = exp.paren(moved, copy=False)
        return exp.BitwiseAnd(this=packed, expression=exp.convert(self._packing.mask))

    @property
    def _worst(self) -> dict[str, exp.Expr]:
        """What the worst of several classes reaches in each model."""
        return {
            name: exp.cast((exp.Min if model.at_least else exp.Max)(this=column(name)), "double")
            for name, model in zip(self.statistics, self._demands.models, strict=True)
        }

    @property
    def _moves(self) -> bool:
        return self._histogram.tally.has_movers

    @property
    def violated(self) -> exp.Expr:
        """The condition under which a class is bad."""
        parts: list[exp.Expr] = [
            model.violation(
                column(name), exp.cast(exp.Literal.number(repr(float(model.limit))), "double")
            )
            for name, model in zip(self.statistics, self._demands.models, strict=True)
        ]
        if self._demands.below != UNBOUNDED:
            parts.insert(0, column("size") < self._demands.below)
        return exp.or_(*parts, copy=False)

    def read(self, found: Mapping[str, Ints], layout: Layout, detail: Detail) -> dict[str, Ints]:
        """The answer of the query as it is."""
        return dict(found)

    def tables(self, name: str, layout: Layout) -> dict[str, dict[str, Numbers]]:
        """The tables that the query reads, by name."""
        made = {name: self._tuples(layout)}
        if self._moves:
            tally = self._histogram.tally
            moves = tally.mover >= 0
            words = _words(layout, tally.codes[moves])
            made[_movers(name)] = words | {"mover": tally.mover[moves]}
        if self._population is not None:
            made[_population(name)] = self._population.table(layout)
        if self._moves and self._by_people:
            made[_moving_values(name)] = self._values(layout)
        return made

    def table_names(self, name: str) -> tuple[str, ...]:
        """The tables that may have been made beside the one of that name."""
        return _movers(name), _moving_values(name), _population(name)

    def _tuples(self, layout: Layout) -> dict[str, Numbers]:
        """One row an atom tuple."""
        codes, columns = self.counted
        return _words(layout, codes) | columns

    @cached_property
    def counted(self) -> tuple[Codes, dict[str, Numbers]]:
        """The atom tuples and what is counted of each, which no layout changes."""
        tally = self._histogram.tally
        tallies = [tally, *(each.facet.tally for each in self._packing.sets)]
        codes, places = _places(tallies)
        size = len(codes)
        columns: dict[str, Numbers] = {}
        if self._histogram.subject is not None:
            columns["n_rows"] = _added(size, places[0], tally.rows)
        packed = np.zeros((size, self._packing.words), dtype=np.int64)
        packed[:, 0] = _added(size, places[0], tally.people)
        for number, (sets, place) in enumerate(zip(self._packing.sets, places[1:], strict=False)):
            if sets.only_occur:
                columns |= sets.occurring(size, place)
                continue
            facet = sets.facet.tally
            assert facet.values is not None
            words = self._packing.value_words(number)[facet.values]
            stays = sets.by_rows | (facet.mover < 0)
            np.add.at(packed, place, words * np.where(stays, sets.entries, 0)[:, None])
        return codes, columns | {f"p{w}": column for w, column in enumerate(packed.T)}

    def _values(self, layout: Layout) -> dict[str, Numbers]:
        """The values of people who are in several tuples, each with what one person adds."""
        parts = []
        for number in self._by_people:
            tally = self._packing.sets[number].facet.tally
            assert tally.values is not None
            moves = tally.mover >= 0
            words = self._packing.value_words(number)[tally.values[moves]]
            columns = _words(layout, tally.codes[moves])
            columns["mover"] = tally.mover[moves]
            columns["column_number"] = np.full(len(words), number)
            columns["value"] = tally.values[moves]
            parts.append(columns | {f"p{w}": c for w, c in enumerate(words.T)})
        return joined(parts)

    @property
    def _by_people(self) -> list[int]:
        """The columns whose values are counted by people."""
        sets = enumerate(self._packing.sets)
        return [number for number, each in sets if not each.by_rows and not each.only_occur]


def _movers(table: str) -> str:
    return f"{table}_movers"


def _moving_values(table: str) -> str:
    return f"{table}_values"


def _population(table: str) -> str:
    return f"{table}_population"


def _words(layout: Layout, codes: Codes) -> dict[str, Numbers]:
    words = layout.row_words(codes)
    return {f"w{w}": words[:, w] for w in range(layout.words)}


def _places(tallies: Sequence[Tally]) -> tuple[Codes, list[Ints]]:
    """The distinct atom tuples of all tallies, and which one each entry of each has."""
    every = np.concatenate([tally.codes for tally in tallies])
    codes, place = np.unique(every, axis=0, return_inverse=True)
    ends = np.cumsum([len(tally) for tally in tallies])
    return codes, np.split(place.reshape(-1), ends[:-1])


def _added(size: int, place: Ints, numbers: Ints) -> Ints:
    """Whole numbers summed by place, exactly."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, place, numbers)
    return total
