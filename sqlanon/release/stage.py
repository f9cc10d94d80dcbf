"""The staged table: what is counted in the source, built, and verified."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from sqlanon.audit import (
    Expected,
    Facts,
    Population,
    Reference,
    reference_of,
    verify_release,
)
from sqlanon.domain import Mode, Unseen
from sqlanon.engines import UNCHANGED, Engine, Source, is_csv
from sqlanon.errors import EngineError, UncoveredValueError, VerificationError
from sqlanon.release.compile import compile_release
from sqlanon.release.generalize import released
from sqlanon.release.order import Order
from sqlanon.release.plan import ReleasePlan
from sqlanon.release.rows import compile_population, population_subject
from sqlanon.wording import counted

_log = logging.getLogger("sqlanon.publish")


class Stages:
    """Logs each stage at INFO, tells a listener its name, and notes how long it took."""

    def __init__(self, listener: Callable[[str], None] | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._listener = listener
        self._current: tuple[str, float] | None = None

    def enter(self, name: str, detail: str = "") -> None:
        """A stage begins, and the one before it is over."""
        self.finish()
        self._current = (name, time.perf_counter())
        _log.info("%s%s", name, f": {detail}" if detail else "")
        if self._listener is not None:
            self._listener(name)

    def finish(self) -> None:
        if self._current is not None:
            name, start = self._current
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self._current = None


@dataclass(frozen=True)
class SourceCounts:
    """What was counted in the source.

    unseen     by generalized column the rows whose value belongs to no group
    uncovered  the rows with such values; a row may have several of them
    """

    rows: int
    people: int
    unseen: Mapping[str, int]
    uncovered: int


def count_source(engine: Engine, plan: ReleasePlan, watch: Stages) -> SourceCounts:
    """Counts what the release will be compared with.

    Raises UncoveredValueError where values belong to no group and the policy wants an error.
    """
    watch.enter("counting")
    order = plan.order
    for statement in plan.hold_off:
        engine.run(statement)
    rows, people, *unseen = (
        int(column[0].as_py()) for column in engine.fetch(plan.count_source).columns
    )
    if not rows:
        raise EngineError(f"{order.name} has no rows; there is nothing to anonymize.")
    counts = {item.name: n for item, n in zip(order.generalized, unseen, strict=True)}
    found = {name: count for name, count in counts.items() if count}
    if found and order.unseen is Unseen.ERROR:
        listed = ", ".join(f"{name!r} in {counted(count, 'row')}" for name, count in found.items())
        raise UncoveredValueError(
            f"The source holds values that the scheme does not cover: {listed}. Find a new "
            "scheme, or let `publish.unseen` decide what happens to such rows. "
            f"{UNCHANGED}",
            {name: engine.fetch(plan.uncovered(name))["value"].to_pylist() for name in found},
        )
    uncovered = sum(found.values())
    if len(found) > 1 and order.unseen is Unseen.LEAVE_OUT:
        uncovered = rows - _covered_rows(engine, order)
    return SourceCounts(rows, people, counts, uncovered)


def _covered_rows(engine: Engine, order: Order) -> int:
    covered = compile_release(
        replace(order, items=order.generalized, suppress=False, marker=None)
    ).select
    covered.set("order", None)
    count = exp.select(exp.Count(this=exp.Star()).as_("n_rows", quoted=True))
    (row,) = engine.fetch(count.from_(covered.subquery("covered"))).to_pylist()
    return int(row["n_rows"])


def build_stage(engine: Engine, plan: ReleasePlan, counts: SourceCounts, watch: Stages) -> Source:
    """Builds the staged table."""
    watch.enter("staging", f"{counts.rows:,} rows")
    engine.run(plan.build_stage, plan.order.used_keys)
    for statement in plan.mark_stage:
        engine.run(statement)
    return Source.of(engine, plan.stage, "the staged table")


def verify(
    engine: Engine, plan: ReleasePlan, counts: SourceCounts, staged: Source, watch: Stages
) -> Facts:
    """Recounts the staged table.

    Raises VerificationError where it is not what it must be, and UncoveredValueError where values
    have no leaf in the hierarchy of a sensitive column.
    """
    watch.enter("verifying")
    expected = _expected(engine, plan, counts)
    try:
        facts = verify_release(staged, expected)
    except UncoveredValueError as error:  # of a sensitive column's hierarchy
        raise error.reworded(f"{error} {UNCHANGED}") from None
    if not facts.holds:
        listed = "".join(f"\n  {problem}" for problem in facts.problems)
        raise VerificationError(f"The release was not published:{listed}\n{UNCHANGED}")
    return facts


def _expected(engine: Engine, plan: ReleasePlan, counts: SourceCounts) -> Expected:
    """What the staged table must be."""
    order = plan.order
    most = _share(order.limit, counts.rows)
    if order.unseen is Unseen.LEAVE_OUT or order.mode is Mode.VIEW:
        most += counts.uncovered
    names = [item.released_names for item in order.generalized]
    return Expected(
        columns=order.released_names,
        k=order.k,
        quasi={each.name: each.values for each in released(order)},
        pairs=tuple(each for each in names if len(each) > 1),
        source_rows=counts.rows,
        most_left_out=most,
        subject=plan.compiled.subject,
        verbatim=order.accepted,
        pseudonyms=order.pseudonyms,
        keys={item.name: order.keys[item.key] for item in order.keyed},
        named_by=next((each.name for each in order.keyed if each.name == order.subject), None),
        sensitive=order.audited,
        label=order.label,
        marker=order.marker if order.suppress else None,
        models=order.models,
        hierarchies=order.hierarchies,
        reference=_reference(engine, order),
        population=generalized_population(engine, order),
        uncovered_sensitive=order.uncovered,
        homogeneity=order.homogeneity,
        as_texts=order.file is not None and is_csv(order.file),
    )


def _share(limit: float, rows: int) -> int:
    """floor(limit · rows), of the decimal number that was written, as a search counts it."""
    return int(Decimal(str(limit)) * rows)


def _reference(engine: Engine, order: Order) -> dict[str, Reference]:
    """What the whole source holds of every sensitive column, also in rows that are left out."""
    if not order.audited:
        return {}
    columns = order.columns or engine.columns(order.source)
    source = Source(engine, order.source, "the source", columns)
    usable = {info.name for info in columns if info.kind is not None}
    return {
        name: reference_of(source, name, order.subject)
        for name in order.audited
        if name in usable  # of others the verification says why they cannot be counted
    }


def generalized_population(engine: Engine, order: Order) -> Population | None:
    """The population, generalized by the SQL that generalizes the source, beside the whole of it.

    The number of its people does not depend on the scheme.
    """
    if order.population is None:
        return None
    whole = Source.of(engine, order.population, "the population")
    fitting = compile_population(order).subquery("population")
    return Population(
        Source.of(engine, fitting, "the population"),
        population_subject(order),
        Population(whole, order.population_subject),
    )


def strict_columns(engine: Engine, plan: ReleasePlan) -> list[str]:
    """The columns that must not be NULL in what is replaced, and hold no NULL now either."""
    names = plan.was_not_null()
    if not names:
        return []
    counts = [
        (exp.Count(this=exp.Star()) - exp.Count(this=exp.column(name, quoted=True))).as_(
            f"c{place}", quoted=True
        )
        for place, name in enumerate(names)
    ]
    (row,) = engine.fetch(exp.select(*counts).from_(plan.stage.copy())).to_pylist()
    return [name for place, name in enumerate(names) if row[f"c{place}"] == 0]
