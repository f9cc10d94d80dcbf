"""The people of a population in a table of masks, and which schemes take them.

`w0, w1, …` are the masks of atoms as for the source. A value that is no atom of the source is
taken by coarse groups only: by schemes that keep no bit of `none0, none1, …`, and no bit of
`pair0, pair1, …` together with the bit before it.
"""

from __future__ import annotations

import numpy as np

from sqlanon.domain import CountedPopulation
from sqlanon.evaluate.coding import Numbers
from sqlanon.evaluate.layout import FIRST_WORD_BITS, WORD_BITS, Layout
from sqlanon.render import Sql


class PopulationMasks:
    """How the tables of one population look; those of all layouts have the same columns."""

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

    def fits(self, words: int) -> Sql | None:
        """The condition that a candidate with the kept bits b0, b1, … takes an entry, if any."""
        parts = []
        for w in range(words):
            if "none" in self._conditions:
                parts.append(f"(none{w} & b{w}) = 0")
            if "pair" in self._conditions:
                parts.append(f"(pair{w} & b{w} & {_bits_before(w)}) = 0")
        return Sql("\n    AND ".join(parts)) if parts else None


def _bits_before(word: int) -> str:
    """The kept bits moved up by one, so that each lies where the next one was."""
    if word == 0:
        return "(b0 << 1)"
    below = FIRST_WORD_BITS if word == 1 else WORD_BITS
    top = (1 << (WORD_BITS - 1)) - 1  # the highest bit would become the sign
    return f"(((b{word} & {top}) << 1) | (b{word - 1} >> {below - 1}))"
