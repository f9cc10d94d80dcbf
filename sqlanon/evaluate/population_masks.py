"""The people of a population in a table of masks, and which schemes match them.

`w0, w1, …` are the masks of atoms as for the source. A value that is not an atom of the source
matches coarse groups only: those of schemes that keep no bit of `none0, none1, …`, and no bit of
`pair0, pair1, …` together with the bit before it.
"""

from __future__ import annotations

import numpy as np
from sqlglot import exp

from sqlanon.domain import CountedPopulation
from sqlanon.evaluate.coding import Numbers
from sqlanon.evaluate.layout import FIRST_WORD_BITS, WORD_BITS, Layout
from sqlanon.evaluate.scoring_sql import column, number_of_people


class PopulationMasks:
    """The shape of the tables of one population; those of all layouts have the same columns."""

    def __init__(self, population: CountedPopulation) -> None:
        self._population = population
        places = [place for column in population.places for place in column]
        self._conditions = [
            name
            for name, needed in (
                ("none", any(place.stop - place.start > 1 or place.company for place in places)),
                ("pair", any(place.company for place in places)),
            )
            if needed
        ]
        self.has_movers = population.tally.has_movers

    def table(self, layout: Layout) -> dict[str, Numbers]:
        """One row per entry: its masks, its conditions, its people, and who moves."""
        tally = self._population.tally
        masks = {"w": layout.row_words(self._population.atoms)}
        if self._conditions:
            none, pair = layout.parting_words(self._population)
            masks |= {"none": none, "pair": pair}
        columns: dict[str, Numbers] = {
            f"{name}{w}": masks[name][:, w] for name in self.names for w in range(layout.words)
        }
        columns["people"] = tally.people
        if self.has_movers:
            columns["mover"] = np.ma.masked_less(tally.mover, 0)
        return columns

    @property
    def names(self) -> list[str]:
        """What the masks are called, but for the number of the word."""
        return ["w", *self._conditions]

    @property
    def people(self) -> exp.Expr:
        """The people of several entries."""
        return number_of_people(moves=self.has_movers)

    def fits(self, words: int) -> exp.Expr | None:
        """The condition that a candidate with the kept bits b0, b1, … takes an entry, if any."""
        parts: list[exp.Expr] = []
        for w in range(words):
            kept = column(f"b{w}")
            if "none" in self._conditions:
                parts.append(_share_no_bit(column(f"none{w}"), kept))
            if "pair" in self._conditions:
                parts.append(_share_no_bit(column(f"pair{w}"), kept, _bits_before(w)))
        return exp.and_(*parts, copy=False) if parts else None


def _share_no_bit(*words: exp.Expr) -> exp.Expr:
    common, *others = words
    for other in others:
        common = exp.BitwiseAnd(this=common, expression=other)
    return exp.EQ(this=exp.paren(common), expression=exp.convert(0))


def _bits_before(word: int) -> exp.Expr:
    """The kept bits moved up by one, so that each lies where the next one was."""
    if word == 0:
        return exp.paren(_moved_up(column("b0")))
    below = FIRST_WORD_BITS if word == 1 else WORD_BITS
    top = (1 << (WORD_BITS - 1)) - 1  # the highest bit would become the sign
    own = exp.paren(exp.BitwiseAnd(this=column(f"b{word}"), expression=exp.convert(top)))
    last = exp.BitwiseRightShift(this=column(f"b{word - 1}"), expression=exp.convert(below - 1))
    return exp.paren(exp.BitwiseOr(this=exp.paren(_moved_up(own)), expression=exp.paren(last)))


def _moved_up(bits: exp.Expr) -> exp.Expr:
    return exp.BitwiseLeftShift(this=bits, expression=exp.convert(1))
