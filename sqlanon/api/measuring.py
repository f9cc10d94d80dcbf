"""A policy applied to its table: counted once, schemes of it measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Self

from sqlanon.api.bind import Origin, quasis_of
from sqlanon.api.domains import on_these_values, refuse_uncovered, scheme_as_listed
from sqlanon.api.places import telling_of_release
from sqlanon.api.release import SchemeLike, document_of, scheme_in
from sqlanon.api.search import Method
from sqlanon.api.solution import Solution
from sqlanon.api.writing import writings_of
from sqlanon.engines import Source
from sqlanon.errors import SchemeError
from sqlanon.evaluate import Evaluator
from sqlanon.histogram import Histogram, count
from sqlanon.metrics import Scores
from sqlanon.policy import Policy
from sqlanon.preference import Preference
from sqlanon.privacy.suppression import Suppression
from sqlanon.scheme import Batch, Scheme, Space, from_document


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
            if "evaluator" in self.__dict__:
                self.evaluator.close()
        finally:
            self.source.engine.close()

    def _forget_counts(self) -> None:
        """The source has changed: what was counted is no longer true."""
        if "evaluator" in self.__dict__:
            self.evaluator.close()
        for counted in ("evaluator", "histogram"):
            self.__dict__.pop(counted, None)

    @cached_property
    def histogram(self) -> Histogram:
        """The counted source; the first use counts it."""
        with telling_of_release(self.policy, self.source):
            return count(
                self.source,
                quasis_of(self.policy, self.source),
                subject=self.policy.section.subject,
                facets=[self.policy.label] if self.policy.label else [],
            )

    @cached_property
    def evaluator(self) -> Evaluator:
        """What scores schemes of this source under this policy."""
        return Evaluator(
            self.histogram,
            suppression=self.suppression,
            label=self.policy.label,
            workspace=self._workspace,
            workers=self._workers,
        )

    @property
    def space(self) -> Space:
        """The columns that schemes speak of."""
        return self.histogram.space

    @property
    def suppression(self) -> Suppression:
        privacy, limit = self.policy.section.privacy, self.policy.section.suppression.limit
        if privacy is None or not limit:
            return Suppression()
        return Suppression.given_k(privacy.k, limit, self.histogram.rows)

    @property
    def preference(self) -> Preference | None:
        section = self.policy.section.preference
        return None if section is None else Preference(nwp=section.nwp, necd=section.necd)

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
        """The scores of several schemes, evaluated together."""
        found = [self.scheme(s) for s in schemes]
        batch = self.space.batch(found)
        if not len(batch):
            return []
        solutions = self._solutions(batch, self.evaluator.score(batch), self.preference)
        pairs = zip(solutions, found, strict=True)
        return [replace(solution, scheme=scheme) for solution, scheme in pairs]

    def _solutions(
        self, batch: Batch, scores: Scores, preference: Preference | None
    ) -> list[Solution]:
        ach, pref_dev = None, None
        if preference is not None:
            ach = preference.ach(scores.nwp, scores.necd)
            pref_dev = preference.pref_dev(scores.nwp, scores.necd)
        privacy = self.policy.section.privacy
        solutions, writings = [], writings_of(self.policy)
        for i in range(len(batch)):
            row = scores.row(i)
            row["ach"] = None if ach is None else float(ach[i])
            row["pref_dev"] = None if pref_dev is None else float(pref_dev[i])
            feasible = None if privacy is None else bool(scores.k[i] >= privacy.k)
            solutions.append(Solution(batch.scheme(i), row, feasible, writings))
        return solutions

    def _evaluator_for(self, method: Method) -> Evaluator:
        """An evaluator under the suppression rule of a method."""
        limit = self.policy.section.suppression.limit
        rule = self.suppression
        if not method.given_k and limit:
            rule = Suppression.up_to(limit, self.histogram.rows)
        return Evaluator(
            self.histogram,
            suppression=rule,
            label=self.policy.label,
            workspace=self._workspace,
            workers=self._workers,
        )
