"""Figures that only a certificate has: bands of class sizes, and whom suppression hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.certificate.document import Band
from sqlanon.certificate.facts import Subgroup
from sqlanon.verify import Audit, ClassSize

BANDS = (1, 2, 5, 10, 50, 200)
"""Class sizes are shown in bands that begin at these multiples of the required k."""

UNIQUE_BANDS = ((0.01, "under 1 %"), (0.1, "1 to 10 %"), (0.5, "10 to 50 %"))

UNEVEN_SHARE, UNEVEN_FACTOR = 0.05, 2
"""A label is hit by suppression if it loses this share of its rows and this multiple of what
the whole table loses."""


LITTLE_IS_KEPT = 0.8
"""A column with a larger share of its rows in one group tells little."""


def band_ends(required_k: int) -> Iterator[tuple[int, int | None]]:
    """The least and the greatest class size of every band; the last one has no end."""
    starts = [required_k * multiple for multiple in BANDS]
    yield from zip(starts, [*(start - 1 for start in starts[1:]), None], strict=True)


def bands_of(audit: Audit, required_k: int) -> Iterator[Band]:
    """The bands that hold classes. Shares are in whole per cent: finer ones would tell the
    size of a single class."""
    for least, most in band_ends(required_k):
        inside = [each for each in audit.sizes if _within(each, least, most)]
        if inside:
            rows = sum(each.rows for each in inside)
            yield Band(
                least=least,
                most=most,
                share=round(rows / audit.rows, 2),
                classes=sum(each.classes for each in inside),
                rows=rows,
            )


def _within(size: ClassSize, least: int, most: int | None) -> bool:
    return least <= size.size and (most is None or size.size <= most)


def unique_band(unique: int, rows: int) -> str:
    """The share of rows that are unique over all released columns, in words."""
    if not unique:
        return "none"
    share = unique / rows
    return next((words for end, words in UNIQUE_BANDS if share < end), "50 % or more")


def uneven_columns(subgroups: Sequence[Subgroup], left_out: int, rows: int) -> tuple[str, ...]:
    """The columns with a label that is hit by suppression, each once."""
    hit = [each.column for each in subgroups if is_hit(each.left_out, each.rows, left_out, rows)]
    return tuple(dict.fromkeys(hit))


def is_hit(left_out: int, rows: int, all_left_out: int, all_rows: int) -> bool:
    """Whether suppression hits a label harder than the table: see UNEVEN_SHARE."""
    return (
        left_out > 0
        and left_out >= UNEVEN_SHARE * rows
        and left_out * all_rows >= UNEVEN_FACTOR * all_left_out * rows
    )
