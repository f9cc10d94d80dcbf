"""Builds the queries of sql/evaluate: chooses the file, and fills the cells that all share.

The parameters of a query are, in this order, the numbers of the candidates and their kept bits, a
list per word; if the histogram is rolled up, the union of the kept bits, one number per word; if
suppressible classes are requested, the two bounds of what is suppressible.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.evaluate.layout import FIRST_WORD_BITS
from sqlanon.render import NATIVE, Sql, render


@dataclass(frozen=True)
class ScoringQuery:
    """The common parts of queries that score candidates: masks, parameters, keys of classes.

    words      64-bit words of a mask
    rolled_up  whether the tables are grouped by the common refinement of the candidates first
    details    whether the classes that may be suppressed are listed beside the sizes
    """

    words: int
    rolled_up: bool = False
    details: bool = False

    def render(self, name: str, **cells: object) -> Sql:
        """One of the queries in sql/evaluate."""
        bounds = 2 + self.words * (1 + self.rolled_up)
        return render(
            f"evaluate/{name}.sql",
            dialect=NATIVE,
            candidates=self._candidates,
            keys=self._keys,
            no_key=dict.fromkeys(self._keys, bigint(exp.convert(0))),
            rolled_up=self.rolled_up,
            details=self.details,
            below=_parameter(bounds),
            budget=_parameter(bounds + 1),
            first_word_bits=FIRST_WORD_BITS,
            **cells,
        )

    def masks(self, *names: str) -> dict[str, exp.Expr]:
        """The masks of these names, with the bits that some candidate keeps."""
        return {
            f"{name}{w}": exp.BitwiseAnd(
                this=column(f"{name}{w}"), expression=_parameter(self.words + w + 2)
            )
            for name in names
            for w in range(self.words)
        }

    @property
    def _candidates(self) -> dict[str, exp.Expr]:
        """The parameters as rows, one per candidate."""
        names = ["candidate", *(f"b{w}" for w in range(self.words))]
        return {
            name: exp.Explode(this=_parameter(place, "bigint[]"))
            for place, name in enumerate(names, 1)
        }

    @property
    def _keys(self) -> dict[str, exp.Expr]:
        """The class of a tuple under a candidate; the first word has the candidate's number."""
        kept: list[exp.Expr] = [
            exp.BitwiseAnd(this=column(f"w{w}"), expression=column(f"b{w}"))
            for w in range(self.words)
        ]
        kept[0] = exp.BitwiseOr(this=column("candidate"), expression=exp.paren(kept[0]))
        return {f"k{w}": each for w, each in enumerate(kept)}


def class_sizes_sql(
    query: ScoringQuery, table: str, *, subjects: bool, movers: bool, labelled: bool
) -> Sql:
    """The query that measures class sizes, without privacy models.

    `subjects`: people are not rows. `movers`: some of them are in several tuples. `labelled`: a
    label is counted along; beside subjects it has a table of its own.
    """
    size = column("n_rows", "classes") if subjects else column("size", "classes")
    of_class: dict[str, exp.Expr] = {"n_rows": size}
    if subjects:
        of_class["n_rows_squared"] = exp.convert(0)
    if labelled:
        of_class["minority"] = exp.convert(0)
    names = {
        (False, False): "plain",
        (False, True): "labels",
        (True, False): "subjects",
        (True, True): "labels_of_subjects",
    }
    moving: dict[str, exp.Expr] = {"mover": column("mover")} if movers else {}
    return query.render(
        names[subjects, labelled],
        table=table,
        labels=labels_of(table),
        masks=query.masks("w") | moving,
        people=number_of_people(moves=movers),
        of_class=of_class | {"n_classes": exp.convert(1)},
    )


def labels_of(table: str) -> str:
    """The table of labels beside the masks of a histogram of subjects."""
    return f"{table}_labels"


def number_of_people(*, moves: bool) -> exp.Expr:
    """The people of a group of tuples; those who are in several tuples count once."""
    people = summed(column("people"))
    if not moves:
        return people
    movers = exp.Count(this=exp.Distinct(expressions=[column("mover")]))
    return exp.Add(this=people, expression=movers)


def summed(number: exp.Expr) -> exp.Expr:
    """A sum in 64 bits."""
    return bigint(exp.Sum(this=number))


def column(name: str, table: str | None = None) -> exp.Column:
    """A column of the tables and parts of these queries."""
    return exp.column(name, table=table, quoted=True)


def bigint(number: exp.Expr) -> exp.Expr:
    """A number as 64 bits."""
    return exp.cast(number, "bigint")


def _parameter(place: int, kind: str = "bigint") -> exp.Expr:
    return exp.cast(exp.Placeholder(this=str(place)), exp.DataType.build(kind, dialect="duckdb"))
