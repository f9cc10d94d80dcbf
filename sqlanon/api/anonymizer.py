"""What ETL scripts use: a policy applied to its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from sqlanon.api.bind import check_columns, open_lent_source, open_policy_source, quasis_of
from sqlanon.api.result import SearchResult
from sqlanon.api.search import (
    DEFAULT_PREFERENCE,
    NO_PREFERENCE,
    WALK,
    WALK_START,
    Method,
    given_settings,
    method_of,
    problem_for,
    run_method,
)
from sqlanon.api.solution import Solution
from sqlanon.engines import Source, open_source
from sqlanon.errors import EngineError, PolicyError
from sqlanon.evaluate import Evaluator
from sqlanon.histogram import Histogram, count
from sqlanon.metrics import Scores
from sqlanon.policy import Policy, parse_policy, read_policy
from sqlanon.preference import Preference
from sqlanon.privacy.suppression import Suppression
from sqlanon.scheme import Batch, Scheme, Space, from_document, read_scheme
from sqlanon.search.outcome import Outcome, Watch
from sqlanon.search.problem import Loss
from sqlanon.search.reference_direction import Exploration

SchemeLike = Scheme | Mapping[str, Any] | str | Path
"""A scheme, its document, or the path of a scheme file."""


def load(
    policy: str | Path | Mapping[str, Any],
    *,
    connection: duckdb.DuckDBPyConnection | None = None,
    data: pd.DataFrame | pa.Table | None = None,
    workspace: str | Path | None = None,
    workers: int | None = None,
) -> Anonymizer:
    """Opens the source of a policy (a file's path or a mapping) for measuring.

    `connection` is an open DuckDB connection to use instead of the policy's own; it stays
    open. `data` is a DataFrame or Arrow table to use as the source. A `workspace` file keeps
    measurements for the next run. `workers` is the number of threads, by default one a
    processor.
    """
    if connection is not None and data is not None:
        raise EngineError("give load() a connection or data, not both")
    checked = parse_policy(policy) if isinstance(policy, Mapping) else read_policy(policy)
    if data is not None:
        source = open_source(data=data)
    elif connection is not None:
        source = open_lent_source(checked, connection)
    else:
        source = open_policy_source(checked)
    try:
        check_columns(checked, source)
    except BaseException:
        source.engine.close()
        raise
    return Anonymizer(checked, source, workspace=workspace, workers=workers)


class Anonymizer:
    """A policy and its source. Use it in a `with` block, or close it when done."""

    def __init__(
        self,
        policy: Policy,
        source: Source,
        *,
        workspace: str | Path | None = None,
        workers: int | None = None,
    ) -> None:
        self.policy = policy
        self.source = source
        self._workspace = workspace
        self._workers = workers

    def __enter__(self) -> Anonymizer:
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

    @cached_property
    def histogram(self) -> Histogram:
        """The counted source; the first use counts it."""
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

    def search(
        self,
        *,
        method: str | None = None,
        seed: int | None = None,
        watch: Watch | None = None,
    ) -> SearchResult:
        """Searches as the policy says; `method` and `seed` replace the policy's.

        Another method than the policy's runs with its default settings. A `watch` follows the
        search and can end it early; without one the policy's seconds and patience apply.
        """
        section = self.policy.section.search
        chosen, settings = method_of(section, method)
        number = section.seed if seed is None else seed
        if number < 0:
            raise PolicyError(f"the seed is {number}; give a whole number of at least 0")
        watch = watch or Watch(seconds=section.seconds, patience=section.patience)
        loss = chosen.loss(section)
        if loss is Loss.CE and self.policy.label is None:
            raise PolicyError("search.loss: ce needs a column with the role label")
        with self._evaluator_for(chosen) as evaluator:
            problem = problem_for(evaluator, self.required_k, self.preference, loss)
            outcome, seconds = run_method(chosen, problem, settings, number, watch)
            effort = asdict(evaluator.effort)
        return self._result(outcome, number, effort, seconds)

    def _result(
        self, outcome: Outcome, seed: int, effort: dict[str, int], seconds: float
    ) -> SearchResult:
        preference, notes = self.preference, outcome.notes
        if preference is None and "ach" in outcome.objectives:
            preference, notes = DEFAULT_PREFERENCE, (*notes, NO_PREFERENCE)
        return SearchResult(
            method=outcome.method,
            objectives=outcome.objectives,
            seed=seed,
            solutions=tuple(self._solutions(outcome.solutions, outcome.scores, preference)),
            chosen=outcome.chosen,
            evaluations=effort,
            seconds=seconds,
            stopped=outcome.stopped,
            reproducible=outcome.reproducible,
            notes=notes,
            policy=self.policy.fingerprint,
            source={
                "name": self.source.name,
                "rows": self.histogram.rows,
                "people": self.histogram.people,
                "histogram": self.histogram.fingerprint,
            },
            required_k=self.required_k,
        )

    def explore(self, document: object = None, *, seed: int | None = None) -> Exploration:
        """A walk along reference directions, from the policy's start to its preference.

        `document` resumes a walk that `to_json` wrote. The walk scores schemes with this
        object, which must stay open.
        """
        section = self.policy.section.search
        given_settings(section)
        problem = problem_for(self.evaluator, self.required_k, self.preference, Loss.NWP)
        if document is not None:
            return Exploration.from_json(document, problem)
        start = section.start
        return Exploration(
            problem,
            start=WALK_START if start is None else Preference(nwp=start.nwp, necd=start.necd),
            preference=problem.preference,
            n=section.points or 10,
            seed=section.seed if seed is None else seed,
        )

    def explored(
        self, exploration: Exploration, chosen: bytes | None = None, seconds: float = 0.0
    ) -> SearchResult:
        """The efficient solutions of a walk as a result; `chosen` is the key of the one taken."""
        archive = exploration.archive
        keys = archive.solutions.keys
        outcome = Outcome(
            method=WALK,
            solutions=archive.solutions,
            scores=archive.scores,
            chosen=keys.index(chosen) if chosen in keys else None,
            objectives=("nwp", "necd"),
        )
        return self._result(outcome, exploration.seed, asdict(self.evaluator.effort), seconds)

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

    @property
    def required_k(self) -> int:
        """The k that the policy asks for; 1 when it asks for none."""
        privacy = self.policy.section.privacy
        return 1 if privacy is None else privacy.k

    def scheme(self, scheme: SchemeLike) -> Scheme:
        """A scheme from whatever describes one."""
        if isinstance(scheme, Scheme):
            return scheme
        if isinstance(scheme, Mapping):
            return from_document(scheme, self.space.columns)
        return read_scheme(scheme, self.space.columns)

    def measure(self, scheme: SchemeLike) -> Solution:
        """The scores of one scheme."""
        return self.measure_all([scheme])[0]

    def measure_all(self, schemes: Sequence[SchemeLike]) -> list[Solution]:
        """The scores of several schemes, evaluated together."""
        batch = self.space.batch([self.scheme(s) for s in schemes])
        if not len(batch):
            return []
        return self._solutions(batch, self.evaluator.score(batch), self.preference)

    def _solutions(
        self, batch: Batch, scores: Scores, preference: Preference | None
    ) -> list[Solution]:
        ach, pref_dev = None, None
        if preference is not None:
            ach = preference.ach(scores.nwp, scores.necd)
            pref_dev = preference.pref_dev(scores.nwp, scores.necd)
        privacy = self.policy.section.privacy
        solutions = []
        for i in range(len(batch)):
            row = scores.row(i)
            row["ach"] = None if ach is None else float(ach[i])
            row["pref_dev"] = None if pref_dev is None else float(pref_dev[i])
            feasible = None if privacy is None else bool(scores.k[i] >= privacy.k)
            solutions.append(Solution(batch.scheme(i), row, feasible))
        return solutions
