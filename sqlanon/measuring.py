"""Counts the source of a policy once, and measures schemes on the counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.counting import (
    DEFAULT_PREFERENCE,
    count,
    models_of,
    people_of_population,
    population_of,
    quasis_of,
    sensitive_hierarchies,
    writings_of,
)
from sqlanon.domain import Histogram, Partition, Scheme, Space, SuppressedRows
from sqlanon.engines import Source
from sqlanon.errors import EngineError, PolicyError, UncoveredValueError
from sqlanon.evaluate import Evaluator, ValueSets, Workspace, score_tree
from sqlanon.metrics import (
    DIGITS,
    METRICS,
    Ints,
    Preference,
    Scores,
    Suppression,
    further,
    scaled,
)
from sqlanon.policy import Policy
from sqlanon.privacy import Model, Reached, SourceValues
from sqlanon.release import (
    cautions,
    compile_measurement,
    holds_with_marked,
    k_of_release,
    measured_order,
    telling_of_release,
)
from sqlanon.search import Solution, kept_of
from sqlanon.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa


class Measurer:
    """A policy and its open source: the histogram, and the evaluators that score schemes on it."""

    def __init__(
        self,
        policy: Policy,
        source: Source,
        *,
        workspace: Workspace | None = None,
        workers: int | None = None,
    ) -> None:
        self.policy = policy
        self.source = source
        self.workspace = workspace or Workspace()
        self.workers = workers

    def forget(self) -> None:
        """Forgets what was counted, because it is no longer needed or no longer true."""
        for evaluator in ("evaluator", "walker"):
            if evaluator in self.__dict__:
                self.__dict__.pop(evaluator).close()
        for name in ("histogram", "cautions", "unreachable"):
            self.__dict__.pop(name, None)

    @cached_property
    def histogram(self) -> Histogram:
        """The counted source; the first use counts it."""
        policy, source = self.policy, self.source
        quasis = quasis_of(policy, source)
        facets = [policy.label, *(model.column for model in self.models)]
        with telling_of_release(policy, source):
            histogram = count(
                source,
                quasis,
                subject=policy.section.subject,
                facets=list(dict.fromkeys(name for name in facets if name is not None)),
                memory=policy.section.memory,
            )
            if not self._needs_population:
                return histogram
            people = population_of(policy, source, quasis, histogram.space)
            return replace(histogram, population=people)

    @property
    def _needs_population(self) -> bool:
        return any(model.needs_population for model in self.models)

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """What every class must satisfy beyond k."""
        return models_of(self.policy, self.source)

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """The models that no release of the source can satisfy, and why."""
        found = [(model, self._reason_against(model)) for model in self.models]
        return tuple(f"{model.describe()}: {why}" for model, why in found if why is not None)

    def _reason_against(self, model: Model) -> str | None:
        """Why no release can satisfy a model, if that is certain."""
        counts, population = np.zeros(0, dtype=np.int64), None
        if model.needs_population:
            population = people_of_population(self.policy, self.source)
        if model.column is not None:
            totals = ValueSets("value", self.histogram.facets[model.column]).totals
            counts = np.sort(totals[totals > 0])[::-1]
            if not counts.size:
                return None
        budget = self.suppression_for(self.required_k).budget
        # Somebody with rows in several classes counts in each, so the whole is no mixture.
        known = SourceValues(counts, budget, self.histogram.subject is None, population)
        return next(model.out_of_reach(known), None)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What publish will refuse whatever a search finds; a result has it in its notes."""
        return tuple(cautions(self.policy, self.source, self.histogram.rows))

    @property
    def space(self) -> Space:
        """The columns of every scheme."""
        return self.histogram.space

    @property
    def preference(self) -> Preference | None:
        section = self.policy.section.preference
        return None if section is None else section.point

    @property
    def required_k(self) -> int:
        """The k that the policy asks for; 1 when it asks for none."""
        privacy = self.policy.section.privacy
        return 1 if privacy is None else privacy.k

    def suppression_for(self, k: int) -> Suppression:
        """The rule for a k; without required privacy nothing is left out."""
        if self.policy.section.privacy is None:
            return Suppression()
        return Suppression.given_k(k, self.policy.section.suppression.limit, self.histogram.rows)

    @cached_property
    def evaluator(self) -> Evaluator:
        """Scores schemes under the policy by every measure."""
        return self._evaluator(self.suppression_for(self.required_k), further())

    @cached_property
    def walker(self) -> Evaluator:
        """Scores the schemes of a walk along reference directions."""
        return self.evaluator_for(self.suppression_for(self.required_k))

    def evaluator_for(
        self, rule: Suppression, loss: str | None = None, *, every_k: bool = False
    ) -> Evaluator:
        """An evaluator of the policy's preference, and of a loss to minimize."""
        aim = self.preference or DEFAULT_PREFERENCE
        wanted: set[str] = {aim.loss_by, aim.bias_by}
        wanted |= set() if loss is None else {loss}
        for key in sorted(wanted):
            if METRICS[key].needs_label and self.policy.label is None:
                raise PolicyError(
                    f"{self.policy.origin}: preference.loss: {key} needs a column with the role "
                    "label"
                )
            if not METRICS[key](self.histogram).is_measurable:
                raise PolicyError(
                    f"{self.policy.origin}: {key} cannot be searched for: the domains of the "
                    "quasi-identifiers have too many combinations; choose another loss"
                )
        return self._evaluator(rule, wanted, every_k=every_k)

    def _evaluator(
        self, rule: Suppression, further: Collection[str], *, every_k: bool = False
    ) -> Evaluator:
        return Evaluator(
            self.histogram,
            suppression=rule,
            every_k=every_k,
            label=self.policy.label,
            models=self.models,
            hierarchies=sensitive_hierarchies(self.policy, self.source),
            further=further,
            workspace=self.workspace,
            workers=self.workers,
        )

    def measured(self, schemes: Sequence[Scheme]) -> list[Solution]:
        """The scores of schemes, each with the rows left out for the k that it was found for."""
        wanted = [each.required_k or self.required_k for each in schemes]
        solutions: dict[int, Solution] = {}
        for k in sorted(set(wanted)):
            rows = [i for i, own in enumerate(wanted) if own == k and schemes[i].tree is None]
            if not rows:
                continue
            part = self.space.batch([schemes[i] for i in rows])
            with self._measuring_for(k) as evaluator:
                scores, released = evaluator.score(part), evaluator.released_rows(part)
            found = self.solutions([schemes[i] for i in rows], scores, self.preference, released)
            solutions |= zip(rows, found, strict=True)
        for i, scheme in enumerate(schemes):
            if scheme.tree is not None:
                solutions[i] = self.measured_tree(scheme)
        return [replace(solutions[i], scheme=scheme) for i, scheme in enumerate(schemes)]

    def measured_tree(self, scheme: Scheme, preference: Preference | None = None) -> Solution:
        """The scores of a scheme with a cut tree.

        Raises UncoveredValueError where rows lie outside the box of their region.
        """
        _refuse_outside(self.histogram, scheme)
        found = score_tree(
            self.histogram,
            scheme,
            suppression=self.suppression_for(scheme.required_k or self.required_k),
            label=self.policy.label,
            models=self.models,
            hierarchies=sensitive_hierarchies(self.policy, self.source),
            further=further(),
            workers=self.workers,
        )
        preference = preference or self.preference
        return self.solutions([scheme], found.scores, preference, [found.released])[0]

    def measured_on_source(self, scheme: Scheme) -> Solution:
        """The scores of a scheme from one query on the source: sql/measure.sql."""
        k = scheme.required_k or self.required_k
        order = measured_order(self.policy, self.source, scheme, k)
        (found,) = self.source.engine.fetch(compile_measurement(order)).to_pylist()
        rows, _, uncovered = (found.pop(n) for n in ("source_rows", "source_people", "uncovered"))
        if uncovered:
            raise EngineError(f"{self.source.name} changed while it was measured; try again")
        row = {n: round(v, DIGITS) if isinstance(v, float) else v for n, v in found.items()}
        row |= {"ach": None, "pref_dev": None}
        scale = row | {"glm": row["glm_share"], "dcn": row["dcn"] / rows**2}
        aim = self.preference
        if aim is not None and aim.loss_by in scale and aim.bias_by in scale:
            point = [np.array([scale[by]]) for by in (aim.loss_by, aim.bias_by)]
            row |= {"ach": aim.ach(*point)[0].item(), "pref_dev": aim.pref_dev(*point)[0].item()}
        feasible, marked_hold = None, None
        if self.policy.section.privacy is not None:
            feasible = row["k"] >= k_of_release(self.policy, scheme)
        marks = self.policy.section.suppression.rows is SuppressedRows.MARK
        if feasible and row["suppressed"] and marks:
            feasible = marked_hold = holds_with_marked(self.policy, self.source, scheme)
        return Solution(scheme, row, feasible, (), writings_of(self.policy), marked_hold)

    def with_words(self, found: pa.Table) -> pa.Table:
        """Rows of evaluations with a column `words`: by column, the labels of the groups."""
        if missing := {"run", "scheme"} - set(found.column_names):
            raise EngineError(
                f"Schemes in words need the column {min(missing)!r}; the query has no such column."
            )
        import pyarrow as pa

        length = sum(-(-column.positions // 8) for column in self.space.columns)
        ours = self.workspace.query(
            f"SELECT run FROM run WHERE histogram = '{self.histogram.fingerprint}'"
        )
        runs, writings = set(ours["run"].to_pylist()), writings_of(self.policy)
        labels: dict[tuple[int, bytes], list[str | None]] = {}

        def in_words(packed: object) -> dict[str, list[str | None]] | None:
            if packed is None:
                return None
            if not isinstance(packed, bytes) or len(packed) != length:
                raise EngineError(
                    "Schemes in words need the column 'scheme' as it is in `evaluation`; what the "
                    "query has there is no scheme."
                )
            words = {}
            for j, (column, part) in enumerate(self.space.unpacked(packed)):
                if (j, part.tobytes()) not in labels:
                    written = writings[column.name].labels(column, Partition.from_bits(part))
                    labels[j, part.tobytes()] = list(written)
                words[column.name] = labels[j, part.tobytes()]
            return words

        pairs = zip(found["run"].to_pylist(), found["scheme"].to_pylist(), strict=True)
        kind = pa.struct([(column.name, pa.list_(pa.string())) for column in self.space.columns])
        column = [in_words(scheme) if run in runs else None for run, scheme in pairs]
        return found.append_column("words", pa.array(column, kind))

    @contextmanager
    def _measuring_for(self, k: int) -> Iterator[Evaluator]:
        """The evaluator of a k; that for the policy's k is kept."""
        if k == self.required_k:
            yield self.evaluator
        else:
            with self._evaluator(self.suppression_for(k), further()) as evaluator:
                yield evaluator

    def solutions(
        self,
        schemes: Sequence[Scheme],
        scores: Scores,
        preference: Preference | None,
        released: Sequence[Sequence[Ints]],
    ) -> list[Solution]:
        """Solutions of schemes that were scored, each for its k.

        `released` has the released rows of every group, by scheme and column.
        """
        rows, ach, pref_dev = self.histogram.rows, None, None
        if preference is not None:
            point = [scaled(by, scores, rows) for by in (preference.loss_by, preference.bias_by)]
            ach, pref_dev = preference.ach(*point), preference.pref_dev(*point)
        section = self.policy.section
        marks = section.suppression.rows is SuppressedRows.MARK
        solutions, writings = [], writings_of(self.policy)
        for i, scheme in enumerate(schemes):
            row = scores.row(i)
            row["ach"] = None if ach is None else float(ach[i])
            row["pref_dev"] = None if pref_dev is None else float(pref_dev[i])
            pairs = zip(self.models, scores.reached[i].tolist(), strict=True)
            reached = tuple(Reached(model, value) for model, value in pairs)
            feasible = None
            if section.privacy is not None:
                enough = bool(scores.k[i] >= k_of_release(self.policy, scheme))
                feasible = enough and all(r.holds for r in reached)
            marked_hold = None
            if feasible and scores.suppressed[i] and marks:
                feasible = marked_hold = holds_with_marked(self.policy, self.source, scheme)
            kept = kept_of(scheme, released[i], rows)
            solutions.append(Solution(scheme, row, feasible, reached, writings, marked_hold, kept))
        return solutions

    def account_of_source(self) -> dict[str, Any]:
        """The source in a result."""
        return {
            "name": self.source.name,
            "rows": self.histogram.rows,
            "people": self.histogram.people,
            "histogram": self.histogram.fingerprint,
        }


def _refuse_outside(histogram: Histogram, scheme: Scheme) -> None:
    """Refuses to measure a scheme that would not release all rows of a source that changed."""
    if scheme.tree is None or not scheme.tree.has_boxes:
        return
    outside, tally = scheme.tree.outside(histogram.tally.codes), histogram.tally
    values: dict[str, list[str]] = {}
    for j, column in enumerate(scheme.columns):
        names = [*map(column.domain.atom_label, range(column.domain.width)), "NULL"]
        atoms = np.unique(tally.codes[outside[:, j], j]).tolist()
        values |= {column.name: [names[atom] for atom in atoms]} if atoms else {}
    if values:
        rows = int(tally.rows[outside.any(axis=1)].sum())
        raise UncoveredValueError(
            f"The source holds {counted(rows, 'row')} outside the boxes that the scheme releases, "
            f"by the columns {', '.join(map(repr, values))}. Search again for a scheme of these "
            "data, or publish with `unseen: leave_out`",
            values,
        )
