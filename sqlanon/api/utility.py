"""What the release of a scheme is worth to those who use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlanon.api.bind import quasis_of
from sqlanon.api.measuring import Measuring
from sqlanon.api.release import SchemeLike, item_of, recipe_of
from sqlanon.arguments import function, optional, refusal, text, texts, whole_number
from sqlanon.compile import Recipe
from sqlanon.engines.base import suggest
from sqlanon.errors import UtilityError
from sqlanon.histogram import Facet, count
from sqlanon.model import Mode
from sqlanon.policy import Others, Role
from sqlanon.scheme import Scheme
from sqlanon.utility import (
    MODELS,
    Accuracy,
    Answer,
    Classes,
    Labelled,
    Utility,
    accuracy,
    answer,
    is_available,
    reconstruction,
    released_classes,
    statements_in,
    workload,
)
from sqlanon.utility.classify import MISSING
from sqlanon.utility.queries import Statement

OnStage = Callable[[str], None]

_AS_THEY_ARE = (Role.SENSITIVE, Role.LABEL, Role.INSENSITIVE)


class Assessing(Measuring):
    """A policy applied to its source: what also tells how useful a release is."""

    def utility(
        self,
        scheme: SchemeLike,
        *,
        queries: int = 1000,
        seed: int = 1,
        sql: str | Sequence[str] = (),
        target: str | None = None,
        model: str = "logistic",
        on_stage: OnStage | None = None,
    ) -> Utility:
        """How well the release of a scheme answers, without building it.

        `queries` random COUNTs are estimated from its classes. `sql` are SELECTs that return one
        number from the table `data`. `target` is the column that a `model` predicts; unless
        given, the policy's label. `on_stage` hears what is going on.
        """
        told = optional(function, "on_stage", on_stage) or (lambda stage: None)
        queries, seed = whole_number("queries", queries, 1), whole_number("seed", seed, 0)
        statements = statements_in(texts("sql", sql, "a SELECT, or a list of them"))
        self._check(target, model)
        told("counting")
        found = self.scheme(scheme)
        solution = self.measure(found)
        short = solution.shortfalls(self.required_k) if solution.feasible is False else ()
        recipe = self._recipe(found)
        classes = released_classes(self.source.engine, recipe, found, guarded=self._is_view)
        told("random queries")
        counts = workload(
            self.histogram, classes, queries, seed,
            lambda done: None if done % 50 else told(f"random queries: {done:,} of {queries:,}"),
        )  # fmt: skip
        answers = self._answers(statements, recipe, seed, told)
        predicted, notes = self._accuracy(classes, target, model, seed, told)
        if short:
            notes.append("the scheme does not hold what the policy requires")
        return Utility(
            rows=self.histogram.rows,
            released=int(classes.rows.sum()),
            marked=int(classes.rows[classes.is_marked].sum()),
            feasible=solution.feasible,
            workload=counts,
            queries=tuple(answers),
            accuracy=predicted,
            notes=tuple(notes),
            shortfalls=short,
        )

    def _check(self, target: str | None, model: str) -> None:
        """Refuses at once what would be refused after a long while."""
        if model not in MODELS:
            raise refusal("model", model, " or ".join(MODELS))
        optional(text, "target", target, "the name of a column")
        if target is None:
            return
        possible = [c.name for c in self.source.columns if self._is_released_as_it_is(c.name)]
        if target not in possible:
            what = "is no column of the source"
            if any(c.name == target for c in self.source.columns):
                what = "is not released as it is"
            hint = suggest(target, possible, "Columns that can be:")
            raise UtilityError(f"column {target!r} cannot be predicted: it {what}. {hint}")
        if not is_available():
            raise UtilityError(f"column {target!r} cannot be predicted: {MISSING}")

    def _is_released_as_it_is(self, name: str) -> bool:
        section = self.policy.section.columns.get(name)
        if section is None:
            is_subject = name == self.policy.section.subject
            return self.policy.section.others is Others.INSENSITIVE and not is_subject
        return section.role in _AS_THEY_ARE

    @property
    def _is_view(self) -> bool:
        return self.policy.section.publish.mode is Mode.VIEW

    def _recipe(self, scheme: Scheme) -> Recipe:
        """What a release consists of; without required privacy, every row."""
        if self.policy.section.privacy is not None:
            return recipe_of(self.policy, self.source, scheme)
        partitions = zip(scheme.columns, scheme.partitions, strict=True)
        pairs = {column.name: (column, partition) for column, partition in partitions}
        items = [item_of(self.policy, info, pairs.get(info.name)) for info in self.source.columns]
        return Recipe(self.source.relation, tuple(i for i in items if i is not None), k=1)

    def _answers(
        self, statements: Sequence[Statement], recipe: Recipe, seed: int, told: OnStage
    ) -> list[Answer]:
        if not statements:
            return []
        release, found = reconstruction(recipe, seed, guarded=self._is_view), []
        for each in statements:
            told(f"query {each.number} of {len(statements)}")
            found.append(answer(self.source.engine, each, self.source.relation, release))
        return found

    def _accuracy(
        self, classes: Classes, target: str | None, model: str, seed: int, told: OnStage
    ) -> tuple[Accuracy | None, list[str]]:
        """The accuracy of the target, or why there is none where only the policy names it."""
        column = target or self.policy.label
        if column is None:
            return None, []
        try:
            if not is_available():
                raise UtilityError(MISSING)
            data = Labelled.of(column, self._facet(column), seed)
            return accuracy(
                data, classes, model=model, seed=seed, on_fold=lambda n: told(f"fold {n}")
            ), []
        except UtilityError as error:
            if target is not None:
                raise
            return None, [f"accuracy is left out: {error}"]

    def _facet(self, name: str) -> Facet:
        if name in self.histogram.facets:
            return self.histogram.facets[name]
        quasis, subject = quasis_of(self.policy, self.source), self.policy.section.subject
        counted = count(self.source, quasis, subject=subject, facets=[name])
        if counted.space.columns != self.space.columns:
            raise UtilityError(f"{self.source.name} changed while it was counted; try again")
        return counted.facets[name]
