"""The staged release: built under a private name, counted anew, and only then let go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.compile import compile_population, compile_release
from sqlanon.compile.population import population_subject
from sqlanon.engines import PublishingEngine, Source
from sqlanon.errors import UncoveredValueError, VerificationError
from sqlanon.model import Unseen, counted
from sqlanon.publish.place import Place
from sqlanon.publish.release import Release
from sqlanon.publish.script import Script
from sqlanon.publish.stages import Stages
from sqlanon.publish.transaction import UNCHANGED
from sqlanon.verify import (
    Population,
    Reference,
    Verification,
    reference_of,
    table_hash,
    verify_release,
)


@dataclass(frozen=True)
class Staged:
    """A staged table that holds what the policy requires."""

    source_rows: int
    unseen: Mapping[str, int]
    verification: Verification
    hash: str

    @property
    def rows(self) -> int:
        return self.source_rows - self.verification.left_out


def build_stage(
    engine: PublishingEngine, release: Release, place: Place, script: Script, stages: Stages
) -> Staged:
    """Builds and verifies the staged table.

    Raises UncoveredValueError where values belong to no group and the policy wants an error, or
    have no leaf in the hierarchy of a sensitive column, and VerificationError where the staged
    table is not what it must be.
    """
    stages.enter("counting")
    unseen = _count_unseen(engine, release, script)
    source_rows = int(engine.fetch(script.source_rows).to_pylist()[0]["n_rows"])
    stages.enter("staging", f"{source_rows:,} rows")
    engine.run(script.stage, release.used_keys)
    for statement in script.mark_stage:
        engine.run(statement)
    stages.enter("verifying")
    uncovered = _uncovered_rows(engine, release, place, unseen, source_rows)
    expected = replace(
        release.expected(source_rows, script.compiled.subject, uncovered),
        reference=_reference(engine, release, place),
        population=_population(release, place),
        population_subject=population_subject(release.recipe),
        whole_population=_whole_population(engine, release, place),
    )
    try:
        verification = verify_release(engine, place.stage, expected)
    except UncoveredValueError as error:  # of a sensitive column's hierarchy
        raise error.reworded(f"{error} {UNCHANGED}") from None
    if not verification.holds:
        listed = "".join(f"\n  {problem}" for problem in verification.problems)
        raise VerificationError(f"The release was not published:{listed}\n{UNCHANGED}")
    stages.enter("hashing", f"{source_rows - verification.left_out:,} rows verified")
    hashed = table_hash(engine, place.stage, release.recipe.released_names)
    return Staged(source_rows, unseen, verification, hashed)


def _reference(engine: PublishingEngine, release: Release, place: Place) -> dict[str, Reference]:
    """What the whole source holds of every sensitive column, also in rows that are left out."""
    source = Source(engine, place.source, "the source", engine.columns(place.source))
    usable = {info.name for info in source.columns if info.kind is not None}
    return {
        name: reference_of(source, name, release.recipe.subject)
        for name in release.checks.sensitive
        if name in usable  # of others the verification says why they cannot be counted
    }


def _population(release: Release, place: Place) -> exp.Expr | None:
    """The population, generalized by the SQL that generalizes the source."""
    if place.population is None:
        return None
    recipe = replace(release.recipe, source=place.source, population=place.population)
    return compile_population(recipe).subquery("population")


def _whole_population(
    engine: PublishingEngine, release: Release, place: Place
) -> Population | None:
    """The population as it is: how many people it has is a matter of no scheme."""
    if place.population is None:
        return None
    columns = engine.columns(place.population)
    whole = Source(engine, place.population, "the population", columns)
    return Population(whole, release.recipe.population_subject)


def _count_unseen(engine: PublishingEngine, release: Release, script: Script) -> dict[str, int]:
    """By column the rows whose value belongs to no group."""
    (row,) = engine.fetch(script.unseen).to_pylist()
    counts = {item.name: int(row[item.name]) for item in release.recipe.generalized}
    found = {name: count for name, count in counts.items() if count}
    if found and release.recipe.unseen is Unseen.ERROR:
        listed = ", ".join(f"{name!r} in {counted(count, 'row')}" for name, count in found.items())
        raise UncoveredValueError(
            f"The source holds values that the scheme does not cover: {listed}. Find a new "
            "scheme, or say with `publish.unseen` what becomes of such rows. "
            f"{UNCHANGED}",
            {name: engine.fetch(script.uncovered(name))["value"].to_pylist() for name in found},
        )
    return counts


def _uncovered_rows(
    engine: PublishingEngine,
    release: Release,
    place: Place,
    unseen: Mapping[str, int],
    source_rows: int,
) -> int:
    """Rows with values that belong to no group; a row may have several of them."""
    recipe = release.recipe
    found = [count for count in unseen.values() if count]
    if len(found) < 2 or recipe.unseen is not Unseen.LEAVE_OUT:
        return sum(found)
    covered = compile_release(
        replace(recipe, source=place.source, items=recipe.generalized, suppress=False, marker=None)
    ).select
    covered.set("order", None)
    count = exp.select(exp.Count(this=exp.Star()).as_("n_rows", quoted=True))
    (row,) = engine.fetch(count.from_(covered.subquery("covered"))).to_pylist()
    return source_rows - int(row["n_rows"])


def columns_without_null(engine: PublishingEngine, table: exp.Table, names: list[str]) -> list[str]:
    """Those of the columns that hold no NULL."""
    if not names:
        return []
    counts = [
        (exp.Count(this=exp.Star()) - exp.Count(this=exp.column(name, quoted=True))).as_(
            f"c{place}", quoted=True
        )
        for place, name in enumerate(names)
    ]
    (row,) = engine.fetch(exp.select(*counts).from_(table.copy())).to_pylist()
    return [name for place, name in enumerate(names) if row[f"c{place}"] == 0]
