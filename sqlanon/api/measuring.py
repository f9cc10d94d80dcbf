"""A policy applied to its table: counted once, schemes of it measured."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from sqlanon.api.bind import Origin, quasis_of
from sqlanon.api.changed import telling_of_changes
from sqlanon.api.domains import on_these_values, refuse_uncovered, scheme_as_listed
from sqlanon.api.kept import kept_of
from sqlanon.api.marked import holds_with_marked
from sqlanon.api.models import models_of, sensitive_hierarchies
from sqlanon.api.places import telling_of_release
from sqlanon.api.population import population_source, telling_of_population
from sqlanon.api.reach import reaches_of
from sqlanon.api.reached import Reached
from sqlanon.api.release import SchemeLike, document_of, k_of_release, scheme_in
from sqlanon.api.search import DEFAULT_PREFERENCE, Method, preference_of
from sqlanon.api.solution import Solution
from sqlanon.api.unreachable import people_in, unreachable
from sqlanon.api.writing import writings_of
from sqlanon.arguments import refusal
from sqlanon.engines import Source
from sqlanon.errors import PolicyError, SchemeError
from sqlanon.evaluate import Evaluator
from sqlanon.histogram import Histogram, Quasi, count, count_population
from sqlanon.measurement import Ints
from sqlanon.metrics import FURTHER, Scores, scaled
from sqlanon.metrics.further import measurable
from sqlanon.model import BiasName, LossName, SuppressedRows
from sqlanon.policy import Policy
from sqlanon.preference import Preference
from sqlanon.privacy import KMap, Model
from sqlanon.scheme import Batch, Scheme, Space, from_document
from sqlanon.suppression import Suppression


class Measuring:
    """A policy applied to its source: what counts and measures. Close it when done."""

    def __init__(
        self,
        policy: Policy,
        source: Source,
        origin: Origin | None = None,
        *,
        workspace: str | Path | None = None,
        workers: int | None = None,
    ) -> None:
        self.policy = policy
        self.source = source
        self._origin = origin or Origin()
        self._workspace = workspace
        self._workers = workers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Writes the workspace and closes everything that was opened here."""
        try:
            self._forget_counts()
        finally:
            self.source.engine.close()

    def _forget_counts(self) -> None:
        """Lets go what was counted, because it is no longer needed or no longer true."""
        for evaluator in ("evaluator", "_walker"):
            if evaluator in self.__dict__:
                self.__dict__.pop(evaluator).close()
        for counted in ("histogram", "cautions"):
            self.__dict__.pop(counted, None)

    @cached_property
    def histogram(self) -> Histogram:
        """The counted source; the first use counts it."""
        quasis = quasis_of(self.policy, self.source)
        with telling_of_release(self.policy, self.source):
            counted = count(
                self.source,
                quasis,
                subject=self.policy.section.subject,
                facets=self._facets(),
            )
            return self._with_population(counted, quasis)

    def _with_population(self, counted: Histogram, quasis: Sequence[Quasi]) -> Histogram:
        """The people of the policy's population beside those of the source, for k-map."""
        section = self.policy.section.population
        if section is None or not any(isinstance(model, KMap) for model in self.models):
            return counted
        others = population_source(self.policy, self.source)
        assert others is not None
        reaches = reaches_of(self.policy, self.source, counted.space)
        with telling_of_population(self.policy, others):
            people = count_population(others, quasis, counted.space, reaches, section.subject)
        return replace(counted, population=people)

    def _account_of_source(self) -> dict[str, Any]:
        """What a result says of the source it is about."""
        return {
            "name": self.source.name,
            "rows": self.histogram.rows,
            "people": self.histogram.people,
            "histogram": self.histogram.fingerprint,
        }

    def _unreachable(self) -> tuple[str, ...]:
        """The models that no release of the source can satisfy, and why."""
        section, people = self.policy.section.population, None
        if section is not None and any(isinstance(model, KMap) for model in self.models):
            others = population_source(self.policy, self.source)
            assert others is not None
            people = people_in(others, section.subject)
        return unreachable(self.models, self.histogram, self.suppression.budget, people)

    def _facets(self) -> list[str]:
        """The columns that are counted beside the quasi-identifiers."""
        wanted = [self.policy.label, *(model.column for model in self.models)]
        return list(dict.fromkeys(name for name in wanted if name is not None))

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """What every class must satisfy beyond k."""
        return models_of(self.policy, self.source)

    @cached_property
    def evaluator(self) -> Evaluator:
        """What measures schemes of this source under this policy, in every way there is."""
        return self._evaluator(self.suppression, FURTHER)

    @cached_property
    def _walker(self) -> Evaluator:
        """What scores the schemes of a walk along reference directions."""
        return self._evaluator(self.suppression, self._checked(self._preferred))

    def _evaluator(
        self,
        rule: Suppression,
        further: Collection[LossName | BiasName],
        *,
        every_k: bool = False,
    ) -> Evaluator:
        return Evaluator(
            self.histogram,
            suppression=rule,
            every_k=every_k,
            label=self.policy.label,
            models=self.models,
            hierarchies=sensitive_hierarchies(self.policy, self.source),
            further=further,
            workspace=self._workspace,
            workers=self._workers,
        )

    @property
    def space(self) -> Space:
        """The columns that schemes speak of."""
        return self.histogram.space

    @property
    def suppression(self) -> Suppression:
        """The rule for the k that the policy asks for."""
        return self._suppression_for(self.required_k)

    def _suppression_for(self, k: int) -> Suppression:
        """The rule for a k; without required privacy nothing is left out."""
        if self.policy.section.privacy is None:
            return Suppression()
        return Suppression.given_k(k, self.policy.section.suppression.limit, self.histogram.rows)

    @property
    def preference(self) -> Preference | None:
        section = self.policy.section.preference
        return None if section is None else preference_of(section)

    @property
    def required_k(self) -> int:
        """The k that the policy asks for; 1 when it asks for none."""
        privacy = self.policy.section.privacy
        return 1 if privacy is None else privacy.k

    def scheme(self, scheme: SchemeLike) -> Scheme:
        """A scheme of the source as it is now, from whatever describes one.

        Raises UncoveredValueError where the source holds values that a file's scheme lacks.
        """
        known = scheme_in(scheme)
        if known is not None:
            return known
        with telling_of_changes(self.policy, scheme):
            document, origin = document_of(scheme)
            try:
                whole = (self.policy, self.source, self.space)
                moved = on_these_values(*whole, document, origin)
                found = from_document(moved, self.space.columns, origin)
                given = scheme_as_listed(*whole, document, origin)
                return found if given.columns == found.columns else replace(found, given=given)
            except SchemeError:
                # The file may be right, and the data hold what it does not know.
                refuse_uncovered(self.policy, self.source, document, origin)
                raise

    def measure(self, scheme: SchemeLike) -> Solution:
        """The scores of one scheme."""
        return self.measure_all([scheme])[0]

    def measure_all(self, schemes: Sequence[SchemeLike]) -> list[Solution]:
        """The scores of several schemes, evaluated together.

        Rows are left out as for the policy's k; of a scheme that was found for another k, as for
        that one.
        """
        if isinstance(schemes, str | Path | Mapping) or not isinstance(schemes, Iterable):
            raise refusal("schemes", schemes, "a list of schemes")
        found = [self.scheme(s) for s in schemes]
        batch = self.space.batch(found)
        if not len(batch):
            return []
        solutions: dict[int, Solution] = {}
        for k in sorted({each.required_k or self.required_k for each in found}):
            rows = [i for i, s in enumerate(found) if (s.required_k or self.required_k) == k]
            part = batch.take(rows)
            with self._measuring_for(k) as evaluator:
                scores, released = evaluator.score(part), evaluator.released_rows(part)
            own = [found[i].required_k for i in rows]
            measured = self._solutions(part, scores, self.preference, own, released)
            solutions |= zip(rows, measured, strict=True)
        return [replace(solutions[i], scheme=scheme) for i, scheme in enumerate(found)]

    @contextmanager
    def _measuring_for(self, k: int) -> Iterator[Evaluator]:
        """What measures schemes as for a k; that for the policy's is kept."""
        if k == self.required_k:
            yield self.evaluator
        else:
            with self._evaluator(self._suppression_for(k), FURTHER) as evaluator:
                yield evaluator

    def _solutions(
        self,
        batch: Batch,
        scores: Scores,
        preference: Preference | None,
        required: Sequence[int | None],
        released: Sequence[Sequence[Ints]],
    ) -> list[Solution]:
        """Solutions of schemes that were scored for the `required` k, None being the policy's.

        `released` has the released rows of every group, by scheme and column.
        """
        ach, pref_dev = None, None
        if preference is not None:
            rows = self.histogram.rows
            point = (
                scaled(preference.loss_by, scores, rows),
                scaled(preference.bias_by, scores, rows),
            )
            ach, pref_dev = preference.ach(*point), preference.pref_dev(*point)
        privacy = self.policy.section.privacy
        solutions, writings = [], writings_of(self.policy)
        for i in range(len(batch)):
            row = scores.row(i)
            row["ach"] = None if ach is None else float(ach[i])
            row["pref_dev"] = None if pref_dev is None else float(pref_dev[i])
            pairs = zip(self.models, scores.reached[i].tolist(), strict=True)
            reached = tuple(Reached(model, value) for model, value in pairs)
            scheme = replace(batch.scheme(i), required_k=required[i])
            feasible = None
            if privacy is not None:
                enough = bool(scores.k[i] >= k_of_release(self.policy, scheme))
                feasible = enough and all(r.holds for r in reached)
            marked_hold = None
            if feasible and scores.suppressed[i] and self._marks:
                marked_hold = holds_with_marked(self.policy, self.source, scheme)
                feasible = marked_hold
            kept = kept_of(scheme, released[i], self.histogram.rows)
            solutions.append(Solution(scheme, row, feasible, reached, writings, marked_hold, kept))
        return solutions

    @property
    def _marks(self) -> bool:
        return self.policy.section.suppression.rows is SuppressedRows.MARK

    def _rule_of(self, method: Method, k: int) -> Suppression:
        """The suppression rule of a method that searches for a k."""
        if method.given_k:
            return self._suppression_for(k)
        return Suppression.up_to(self.policy.section.suppression.limit, self.histogram.rows)

    def _evaluator_for(
        self, method: Method, rule: Suppression, *, every_k: bool = False
    ) -> Evaluator:
        """An evaluator of all that a method minimizes, under a suppression rule."""
        wanted = self._checked({method.loss(self.policy.section.search), *self._preferred})
        return self._evaluator(rule, wanted, every_k=every_k)

    def _checked(self, wanted: set[LossName | BiasName]) -> set[LossName | BiasName]:
        """The measures that a search is for, if they can be measured."""
        if LossName.CE in wanted and self.policy.label is None:
            raise PolicyError(
                f"{self.policy.origin}: preference.loss: ce needs a column with the role label"
            )
        if unmeasurable := wanted - measurable(self.histogram, wanted):
            names = ", ".join(sorted(unmeasurable))
            raise PolicyError(
                f"{self.policy.origin}: {names} cannot be searched for: the domains of the "
                "quasi-identifiers have too many combinations; choose another loss"
            )
        return wanted

    @property
    def _preferred(self) -> set[LossName | BiasName]:
        """The measures of the preference."""
        aim = self.preference or DEFAULT_PREFERENCE
        return {aim.loss_by, aim.bias_by}
