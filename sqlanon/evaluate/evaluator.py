"""The evaluator: schemes in, scores out, every distinct scheme measured once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from sqlanon.domain import Batch, Hierarchy, Histogram, Scheme, Space
from sqlanon.errors import EvaluationError
from sqlanon.evaluate.answers import list_classes, read_answer
from sqlanon.evaluate.cache import Cache
from sqlanon.evaluate.layout import Layout
from sqlanon.evaluate.pulse import Part, Pulse, Unfinished
from sqlanon.evaluate.query_plan import MAX_CLASSES, MAX_LISTED, Group, plan
from sqlanon.evaluate.value_counts import Demands
from sqlanon.evaluate.workbench import Database, Workbench
from sqlanon.evaluate.workspace import Basis, Search, Workspace, account_of
from sqlanon.metrics import (
    EVERY_CLASS,
    UNBOUNDED,
    ColumnLoss,
    CostModel,
    Detail,
    Ints,
    Measurement,
    Measurements,
    Rule,
    Scores,
    Suppression,
    asked_of,
    rows_by_group,
    score,
)
from sqlanon.privacy import Model

T = TypeVar("T")

MAX_ROWS = math.isqrt(2**63 - 1)
"""Every sum that scores are made of is at most rows², and must fit 64 bits."""

AT_ONCE = 200_000
"""A batch of fewer row operations takes milliseconds: the pulse need not beat within it."""


@dataclass
class Effort:
    """What evaluating has cost so far.

    asked     schemes, repeated ones included
    distinct  schemes that were measured
    recalled  schemes that were found in a workspace file instead
    queries   how many it took
    """

    asked: int = 0
    distinct: int = 0
    recalled: int = 0
    queries: int = 0


class Evaluator:
    """Scores schemes of one histogram.

    `label` names the facet that classification error is measured against. `models` are what
    classes must satisfy beyond k, whose columns are facets of the histogram; `hierarchies` are
    of those columns. `further` are the keys of metrics that are wanted beside those which every
    scheme has; some of them cost something. With `every_k` schemes are measured in enough detail
    to score them for any k within the budget of the suppression. Measurements are rows of the
    tables of a `workspace`, or of a file of which a path is given, else of memory. Results do not
    depend on `workers`. A listener of `pulse` hears of long batches and may end them.
    """

    def __init__(
        self,
        histogram: Histogram,
        *,
        suppression: Suppression | None = None,
        label: str | None = None,
        models: Sequence[Model] = (),
        hierarchies: Mapping[str, Hierarchy] | None = None,
        further: Collection[str] = (),
        every_k: bool = False,
        workspace: Workspace | str | Path | None = None,
        workers: int | None = None,
    ) -> None:
        self.histogram = histogram
        self.suppression = suppression or Suppression()
        self.label = label
        self.effort = Effort()
        self.pulse = Pulse()
        rule = replace(self.suppression, below=UNBOUNDED) if every_k else self.suppression
        self._detail = rule.detail
        self.suppression.check(histogram.rows)
        if histogram.rows > MAX_ROWS:
            raise EvaluationError(
                f"the source has {histogram.rows:,} rows; more than {MAX_ROWS:,} cannot be scored "
                "exactly; divide the source or take a sample of it"
            )
        if label is not None and label not in histogram.facets:
            raise EvaluationError(f"the label column {label!r} was not counted")
        self.models = tuple(models)
        self._asked = asked_of(histogram, further)
        self._costs = CostModel(histogram, self._asked)
        demands = Demands(self.models, self.suppression.below, hierarchies or {})
        self._workbench = Workbench(histogram, label, demands, workers)
        key = demands.fingerprint + self._costs.fingerprint
        self._owns_workspace = not isinstance(workspace, Workspace)
        self.workspace = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
        self._cache = Cache(Basis(histogram.fingerprint, label or "", key), self.workspace)
        self._losses = [[ColumnLoss(cost) for cost in kind] for kind in self._costs.kinds]

    @property
    def space(self) -> Space:
        return self.histogram.space

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Writes what is not yet in the workspace and lets everything go."""
        self.workspace.flush()
        if self._owns_workspace:
            self.workspace.close()
        self._workbench.close()

    def begin(self, search: Search | None = None, rule: Rule | None = None) -> None:
        """Begins a run in the workspace, which what is scored from here on belongs to."""
        rule = rule if isinstance(rule, Suppression) else self.suppression
        account = account_of(
            search, rule, self.histogram, self.label, self._asked, self._costs, self.models
        )
        self._cache.begin(account)

    def end(
        self,
        seconds: float,
        stopped: str,
        effort: Mapping[str, int],
        solutions: Batch,
        belows: Sequence[int],
    ) -> None:
        """Ends the run that `begin` began, with the schemes it lists and the k of each."""
        assert self._cache.run is not None
        listed = {(solutions.packed(row), below) for row, below in enumerate(belows)}
        self.workspace.end(self._cache.run, seconds, stopped, effort, sorted(listed))

    def score(self, schemes: Sequence[Scheme] | Batch, rule: Rule | None = None) -> Scores:
        """The scores of the schemes, in their order.

        Under the evaluator's suppression, or another one that needs no more detail. Raises
        Unfinished, with the scores known by then, where the pulse's listener ends it.
        """
        batch, rule = self._batch_of(schemes), rule or self.suppression
        found = self._found(batch)
        rows = [row for row, measured in enumerate(found) if measured is not None]
        if not rows:
            raise Unfinished
        scores = self.score_measured(Measurements.of([m for m in found if m is not None]), rule)
        if len(rows) < len(batch):
            raise Unfinished(Part(rows, batch.take(rows), scores))
        return scores

    def score_measured(self, measured: Measurements, rule: Rule) -> Scores:
        """The scores of what was measured here, under a rule that it was measured for."""
        return score(measured, self.histogram, rule, self.models, self._asked)

    def measure(self, schemes: Sequence[Scheme] | Batch) -> Measurements:
        """The raw integers behind the scores."""
        found = self._found(self._batch_of(schemes))
        measured = [m for m in found if m is not None]
        if len(measured) < len(found):
            raise Unfinished
        return Measurements.of(measured)

    def _batch_of(self, schemes: Sequence[Scheme] | Batch) -> Batch:
        batch = schemes if isinstance(schemes, Batch) else self.space.batch(schemes)
        if not len(batch):
            raise EvaluationError("there is no scheme to evaluate")
        return batch

    def _found(self, batch: Batch) -> list[Measurement | None]:
        """Measures what the cache does not know; None where that was ended before."""
        detail = self._needed
        if self._cache.run is None:
            self.begin()
        self.effort.asked += len(batch)
        first = {key: row for row, key in reversed(list(enumerate(batch.keys)))}
        found, recalled = self._cache.known(batch, first, detail)
        self.effort.recalled += recalled
        missing = [row for key, row in first.items() if key not in found]
        if missing:
            fresh = batch.take(missing)
            fresh_measured = self._measure_all(fresh, detail)
            for i in sorted(range(len(missing)), key=missing.__getitem__):  # in their order
                measured = fresh_measured[i]
                if measured is not None:
                    found[fresh.keys[i]] = measured
                    self._cache.put(fresh, i, measured)
                    self.effort.distinct += 1
        return [found.get(key) for key in batch.keys]

    @property
    def _needed(self) -> Detail:
        """The classes that a measurement must know one by one."""
        return EVERY_CLASS if self._costs.tuples else self._detail

    def column_loss(self, batch: Batch) -> Ints:
        """Σ over rows of (atoms in the row's group − 1), by scheme and column.

        Nothing is suppressed and nothing is queried: it comes from one-column counts.
        """
        return _losses_of(batch, self._losses[0])

    def released_rows(
        self, schemes: Sequence[Scheme] | Batch, rule: Rule | None = None
    ) -> list[list[Ints]]:
        """By scheme and column the released rows of every group, under a suppression."""
        batch = schemes if isinstance(schemes, Batch) else self.space.batch(schemes)
        measured = self.measure(batch)
        out = (rule or self.suppression).mask(measured)
        sizes_out = np.add.reduceat(out.astype(np.int64), measured.offsets[:-1])
        tables, marginals = self.space.tables, self.histogram.marginals
        rows = [
            [rows_by_group(table, batch.ids[i, j], marginals[j]) for j, table in enumerate(tables)]
            for i in range(len(batch))
        ]
        some = np.flatnonzero(sizes_out)
        if len(some):
            # Classes are asked for by scheme: one may be here for several k.
            _, first, place = np.unique(
                batch.ids[some], axis=0, return_index=True, return_inverse=True
            )
            asked = batch.take(some[first])
            listed = self._ask_all(asked, self._needed, list_classes)
            for i, classes in zip(some.tolist(), place.reshape(-1).tolist(), strict=True):
                one = listed[classes]
                if one is None:
                    raise Unfinished
                one.take_from(rows[i], int(sizes_out[i]))
        return rows

    def _measure_all(self, batch: Batch, detail: Detail) -> list[Measurement | None]:
        """Measures schemes of which none is known; None where the pulse ended that before."""
        # Before the threads begin: a column's losses are computed where they are first asked for.
        losses = np.concatenate([_losses_of(batch, kind) for kind in self._losses], axis=1)
        rows = {key: row for row, key in enumerate(batch.keys)}

        def read(answer: Mapping[str, Ints], layout: Layout, members: Batch) -> list[Measurement]:
            of_members = losses[[rows[key] for key in members.keys]]
            return read_answer(answer, layout, members, of_members, detail, self._costs)

        return self._ask_all(batch, detail, read)

    def _ask_all(
        self,
        batch: Batch,
        detail: Detail,
        read: Callable[[Mapping[str, Ints], Layout, Batch], list[T]],
    ) -> list[T | None]:
        """What `read` makes of the answers of queries over all schemes, one entry each.

        None where the pulse ended that before.
        """
        layout = self._workbench.layout_of(batch)
        if layout is None:
            return self._ask_halves(batch, detail, read)
        if self.pulse.beat():
            return [None] * len(batch)
        kept = layout.kept_bits(batch)
        words = layout.pack(kept)
        most = MAX_LISTED if self._costs.tuples else MAX_CLASSES
        groups = plan(layout, kept, batch.ids, self._workbench.rows, most)
        if not self._workbench.can_roll_up:
            groups = [Group(g.members, rolled_up=False) for g in groups]

        def work(database: Database, group: Group) -> list[T]:
            answer = self._workbench.answer(database, layout, group, words, detail)
            return read(answer, layout, batch.take(group.members))

        before = self._workbench.queries
        measured: list[T | None] = [None] * len(batch)
        short = len(batch) * self._workbench.rows < AT_ONCE
        pulse = None if short or not self.pulse.is_heard else self.pulse
        for group, results in zip(groups, self._workbench.map(work, groups, pulse), strict=True):
            for member, result in zip(group.members.tolist(), results or (), strict=False):
                measured[member] = result
        self.effort.queries += self._workbench.queries - before
        return measured

    def _ask_halves(
        self,
        batch: Batch,
        detail: Detail,
        read: Callable[[Mapping[str, Ints], Layout, Batch], list[T]],
    ) -> list[T | None]:
        """The same in two parts, the coarser schemes first.

        These cost less, are more often feasible, and have few enough cuts to share a layout.
        """
        order = np.argsort(batch.cuts, kind="stable")
        measured: list[T | None] = [None] * len(batch)
        for part in np.array_split(order, 2):
            results = self._ask_all(batch.take(part), detail, read)
            for row, result in zip(part.tolist(), results, strict=True):
                measured[row] = result
            if None in results:  # the pulse ended it
                break
        return measured


def _losses_of(batch: Batch, columns: Sequence[ColumnLoss]) -> Ints:
    return np.column_stack([c.of(batch.ids[:, j]) for j, c in enumerate(columns)])
