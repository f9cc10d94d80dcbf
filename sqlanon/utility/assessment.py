"""Assesses the release of a scheme for its users."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlanon.arguments import function, optional, refusal, text, texts, whole_number
from sqlanon.counting import count, quasis_of
from sqlanon.domain import Facet, Histogram, Mode, Scheme
from sqlanon.engines import Source
from sqlanon.errors import UtilityError
from sqlanon.policy import Others, Policy, Role
from sqlanon.release import Order, item_of, order_of
from sqlanon.search import Solution
from sqlanon.utility.inference import Guesses, inference
from sqlanon.utility.own_queries import Answer, Number, answer, statements_in
from sqlanon.utility.prediction import MISSING, MODELS, Accuracy, Labelled, accuracy, is_available
from sqlanon.utility.reconstruction import reconstruction
from sqlanon.utility.released_classes import ReleasedClasses, released_classes
from sqlanon.utility.workload import Workload, workload
from sqlanon.wording import suggest

if TYPE_CHECKING:
    import pandas as pd

Table = list[tuple[str, ...]]
"""Lines of texts, the first one the titles."""


@dataclass(frozen=True, repr=False)
class Utility:
    """The usefulness of a release of a scheme.

    rows      rows of the source
    released  rows of the release, including those with the marker
    marked    rows of the release with the marker
    feasible  whether the policy would let the scheme be released; None without requirements
    shortfalls  the policy's requirements that the scheme violates, one sentence each
    guesses   how well each column can be guessed from all others with the release
    """

    rows: int
    released: int
    marked: int
    feasible: bool | None
    workload: Workload
    queries: tuple[Answer, ...] = ()
    accuracy: Accuracy | None = None
    notes: tuple[str, ...] = ()
    shortfalls: tuple[str, ...] = ()
    guesses: tuple[Guesses, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """A document for JSON."""
        return {
            "rows": self.rows,
            "released": self.released,
            "marked": self.marked,
            "feasible": self.feasible,
            "workload": self.workload.to_dict(),
            "queries": [answer.to_dict() for answer in self.queries],
            "accuracy": None if self.accuracy is None else self.accuracy.to_dict(),
            "guesses": [each.to_dict() for each in self.guesses],
            "notes": list(self.notes),
        }

    def to_pandas(self) -> pd.DataFrame:
        """The random queries, one row each: their columns, count, estimate and relative error."""
        import pandas as pd

        workload = self.workload
        return pd.DataFrame(
            {
                "columns": [", ".join(names) for names in workload.columns],
                "count": workload.counts,
                "estimate": workload.estimates,
                "relative_error": workload.errors,
            }
        )

    def tables(self) -> list[Table]:
        """The tables to show: random queries, own queries, accuracy and guesses, if present."""
        workload = self.workload
        asked = f"{workload.queries:,} random counts"
        found: list[Table] = [
            [
                (asked, "relative error"),
                ("median", format_share(workload.median)),
                ("95th percentile", format_share(workload.p95)),
                ("mean", format_share(workload.mean)),
            ]
        ]
        if self.queries:
            found.append([("query", "source", "release", "relative error"), *self._answers()])
        if self.accuracy is not None:
            found.append(_of_accuracy(self.accuracy))
        if self.guesses:
            titles = ("guessing from the others", "base rate", "guess", "one has 80 %", "certain")
            found.append([titles, *map(_of_guesses, self.guesses)])
        return found

    def _answers(self) -> list[tuple[str, ...]]:
        return [
            (a.sql, format_number(a.source), format_number(a.release),
             format_share(a.relative_error))
            for a in self.queries
        ]  # fmt: skip

    def summary(self) -> str:
        """Says in one line how many rows of the source are released."""
        text = f"{self.released:,} of {self.rows:,} rows are released"
        return f"{text}, {self.marked:,} of them with the marker" if self.marked else text

    def __repr__(self) -> str:
        error = f"{self.workload.median:.1%} of a count in the median"
        return f"<Utility: {self.summary()}, error {error}>"

    def __str__(self) -> str:
        lines = []
        for table in self.tables():
            widths = [max(len(line[j]) for line in table) for j in range(len(table[0]))]
            for first, *others in table:
                rest = [f"{text:>{w}}" for text, w in zip(others, widths[1:], strict=True)]
                lines.append("  ".join([f"{first:<{widths[0]}}", *rest]))
            lines.append("")
        return "\n".join([*lines, self.summary(), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        parts = []
        for head, *lines in self.tables():
            titles = "".join(f"<th>{html.escape(text)}</th>" for text in head)
            rows = "".join(
                f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in line)}</tr>"
                for line in lines
            )
            parts.append(f"<table><tr>{titles}</tr>{rows}</table>")
        said = [self.summary(), *self.notes]
        return "".join([*parts, *(f"<p>{html.escape(text)}</p>" for text in said)])


def _of_guesses(found: Guesses) -> tuple[str, ...]:
    shares = (found.base, found.best, found.mostly, found.certain)
    return (found.column, *map(format_share, shares))


def _of_accuracy(found: Accuracy) -> Table:
    return [
        (f"predicting {found.target}", "accuracy"),
        ("learned from the source", format_share(found.original)),
        ("learned from the release", format_share(found.released)),
        ("the most frequent value", format_share(found.baseline)),
    ]


def format_share(value: float | None) -> str:
    """A share or a relative error; – if it is undefined."""
    return "–" if value is None else f"{value:.2%}"


def format_number(value: Number | None) -> str:
    """A number as a query yields it."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4f}" if 1e-3 <= abs(value) < 1e15 or not value else f"{value:.6g}"


_AS_THEY_ARE = (Role.SENSITIVE, Role.LABEL, Role.INSENSITIVE)


class Assessment:
    """The questions about releases of a source; wrong arguments are refused at once.

    `queries` random COUNTs are estimated from the classes of a release. `sql` are SELECTs that
    return one number from the table `data`. `target` is the column that a `model` predicts;
    unless given, the policy's label. `on_stage` hears what is going on.
    """

    def __init__(
        self,
        policy: Policy,
        source: Source,
        *,
        queries: int,
        seed: int,
        sql: str | Sequence[str],
        target: str | None,
        model: str,
        on_stage: Callable[[str], None] | None,
    ) -> None:
        self._policy, self._source = policy, source
        self.tell = optional(function, "on_stage", on_stage) or (lambda stage: None)
        self._queries = whole_number("queries", queries, 1)
        self._seed = whole_number("seed", seed, 0)
        given = texts("sql", sql, "a SELECT, or a list of them")
        self._statements = statements_in(given, source.engine.dialect)
        self._target, self._model = optional(text, "target", target, "the name of a column"), model
        self._check()

    def _check(self) -> None:
        if self._model not in MODELS:
            raise refusal("model", self._model, " or ".join(MODELS))
        target = self._target
        if target is None:
            return
        names = [column.name for column in self._source.columns]
        possible = [name for name in names if self._is_released_as_it_is(name)]
        if target not in possible:
            what = "is not released as it is" if target in names else "is no column of the source"
            hint = suggest(target, possible, "Columns that can be:")
            raise UtilityError(f"column {target!r} cannot be predicted: it {what}. {hint}")
        if not is_available():
            raise UtilityError(f"column {target!r} cannot be predicted: {MISSING}")

    def _is_released_as_it_is(self, name: str) -> bool:
        section = self._policy.section.columns.get(name)
        if section is None:
            is_subject = name == self._policy.section.subject
            return self._policy.section.others is Others.INSENSITIVE and not is_subject
        return section.role in _AS_THEY_ARE

    def of(self, histogram: Histogram, solution: Solution, required_k: int) -> Utility:
        """Assesses the release of a solution without building it."""
        short = solution.shortfalls(required_k) if solution.feasible is False else ()
        recipe = order_to_assess(self._policy, self._source, solution.scheme)
        guarded = self._policy.section.publish.mode is Mode.VIEW
        engine = self._source.engine
        classes = released_classes(engine, recipe, solution.scheme, guarded=guarded)
        self.tell("random queries")
        counts = workload(histogram, classes, self._queries, self._seed, self._tell_queries)
        answers = self._answers(recipe, guarded)
        self.tell("guesses")
        guesses = inference(histogram, classes, self._seed)
        predicted, notes = self._accuracy(histogram, classes)
        if short:
            notes.append("the scheme does not hold what the policy requires")
        return Utility(
            rows=histogram.rows,
            released=int(classes.rows.sum()),
            marked=int(classes.rows[classes.is_marked].sum()),
            feasible=solution.feasible,
            workload=counts,
            queries=tuple(answers),
            accuracy=predicted,
            notes=tuple(notes),
            shortfalls=short,
            guesses=guesses,
        )

    def _tell_queries(self, done: int) -> None:
        if done % 50 == 0:
            self.tell(f"random queries: {done:,} of {self._queries:,}")

    def _answers(self, recipe: Order, guarded: bool) -> list[Answer]:
        if not self._statements:
            return []
        engine, found = self._source.engine, []
        release = reconstruction(engine, recipe, self._seed, guarded=guarded)
        for each in self._statements:
            self.tell(f"query {each.number} of {len(self._statements)}")
            found.append(answer(engine, each, self._source.relation, release))
        return found

    def _accuracy(
        self, histogram: Histogram, classes: ReleasedClasses
    ) -> tuple[Accuracy | None, list[str]]:
        """The accuracy for the target, or why it is missing if only the policy names the target."""
        column = self._target or self._policy.label
        if column is None:
            return None, []
        try:
            if not is_available():
                raise UtilityError(MISSING)
            data = Labelled.of(column, self._facet(histogram, column), self._seed)
            return accuracy(
                data, classes, model=self._model, seed=self._seed,
                on_fold=lambda n: self.tell(f"fold {n}"),
            ), []  # fmt: skip
        except UtilityError as error:
            if self._target is not None:
                raise
            return None, [f"accuracy is left out: {error}"]

    def _facet(self, histogram: Histogram, name: str) -> Facet:
        if name in histogram.facets:
            return histogram.facets[name]
        quasis, subject = quasis_of(self._policy, self._source), self._policy.section.subject
        memory = self._policy.section.memory
        counted = count(self._source, quasis, subject=subject, facets=[name], memory=memory)
        if counted.space.columns != histogram.space.columns:
            raise UtilityError(f"{self._source.name} changed while it was counted; try again")
        return counted.facets[name]


def order_to_assess(policy: Policy, source: Source, scheme: Scheme) -> Order:
    """The release to assess; without required privacy it has every row."""
    if policy.section.privacy is not None:
        return order_of(policy, source, scheme)
    items = [item_of(policy, info, scheme.by_name.get(info.name)) for info in source.columns]
    kept = tuple(item for item in items if item is not None)
    return Order(source.relation, kept, k=1, tree=scheme.cut_tree)
