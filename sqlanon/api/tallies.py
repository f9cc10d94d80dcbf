"""What a release lost, counted on the release itself rather than taken from the search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.compile import Generalized, Recipe, compile_release
from sqlanon.compile.parts import ordinals, unlike
from sqlanon.compile.present import Cell, cells, is_text, keeps_values
from sqlanon.compile.select import class_columns
from sqlanon.engines import ColumnInfo, Engine
from sqlanon.histogram.atoms import exact, told_apart
from sqlanon.verify import Audit, ColumnGroups, column_groups

Counts = Mapping[tuple[Cell, ...], int]
"""Rows by what a quasi-identifier holds: one value, or two bounds."""


@dataclass(frozen=True)
class Marked:
    """The class of rows that were suppressed by marking them, in rows and in people."""

    rows: int = 0
    people: int = 0


@dataclass(frozen=True)
class Tallies:
    """Rows by value of each generalized column: those released, and those suppressed.

    Marked rows count as suppressed, not as released; in `groups`, which is counted over the
    whole table as anybody may count it, their marker is a value like any other.
    """

    released: Mapping[str, Counts]
    suppressed: Mapping[str, Counts]
    source_people: int
    groups: Mapping[str, ColumnGroups]
    marked: Marked = field(default_factory=Marked)
    of_majority: int | None = None
    """Released rows that have the most frequent label of their class; None without a label."""

    @property
    def suppressed_rows(self) -> int:
        return next((sum(counts.values()) for counts in self.suppressed.values()), 0)


def tally(
    engine: Engine,
    recipe: Recipe,
    staged: exp.Expr,
    *,
    any_suppressed: bool,
    guarded: bool = False,
    label: ColumnInfo | None = None,
) -> Tallies:
    """Counts a staged release and, where rows were suppressed, the classes that they were in.

    `guarded` as the release was compiled: a view leaves unseen values out before it counts.
    `label` is the column that is released to be predicted, if there is one.
    """
    is_marked = _is_marked(recipe)
    released = {
        item.name: _counts(engine, staged, recipe, item, is_marked) for item in recipe.generalized
    }
    suppressed = _suppressed(engine, recipe, guarded) if any_suppressed else {}
    marked = Marked() if is_marked is None else _marked(engine, recipe, staged, is_marked)
    majority = None if label is None else _of_majority(engine, staged, recipe, label, is_marked)
    groups = {
        item.name: column_groups(engine, staged, item.released_names) for item in recipe.generalized
    }
    return Tallies(released, suppressed, _people(engine, recipe), groups, marked, majority)


def _is_marked(recipe: Recipe) -> exp.Expr | None:
    """Whether a row was marked; None where none can be.

    A column with one label for all may have the marker's own, so the others tell. Where there
    are no others, there is one class: either it is large enough, or nothing is released.
    """
    if not recipe.suppress or recipe.marker is None:
        return None
    marker = exp.Literal.string(recipe.marker)
    same = [
        exp.NullSafeEQ(this=exact(exp.column(name, quoted=True)), expression=marker.copy())
        for item in recipe.generalized
        for name in item.released_names
        if not item.takes_all
    ]
    return exp.and_(*same) if same else None


def _counts(
    engine: Engine,
    relation: exp.Expr,
    recipe: Recipe,
    item: Generalized,
    is_marked: exp.Expr | None,
) -> Counts:
    columns: list[exp.Expr] = [exp.column(name, quoted=True) for name in item.released_names]
    if is_text(item, recipe):
        columns = [exact(column).as_(column.name, quoted=True) for column in columns]
    rows = exp.Count(this=exp.Star()).as_("n_rows", quoted=True)
    numbers = [exp.Literal.number(n) for n in range(1, len(columns) + 1)]
    query = exp.select(*columns, rows).from_(relation.copy()).group_by(*numbers)
    if is_marked is not None:
        query = query.where(exp.not_(is_marked))
    *values, counts = (_cells(column) for column in engine.fetch(query).columns)
    return {tuple(key): n for *key, n in zip(*values, counts, strict=True)}


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """The values, with one NaN for all, so that it is found in a mapping."""
    values = column.to_pylist()
    return [math.nan if isinstance(v, float) and math.isnan(v) else v for v in values]


def _suppressed(engine: Engine, recipe: Recipe, guarded: bool) -> dict[str, Counts]:
    """By column and value the rows in classes that fall short; there are few, by the limit.

    They are those of the release's own SELECT, which finds them by k and by every model.
    """
    kept = replace(recipe, items=recipe.generalized, header=())
    select = compile_release(kept, guarded=guarded, only_suppressed=True).select
    select.set("order", None)
    columns = class_columns(recipe)
    query = (
        exp.select(*columns, exp.Count(this=exp.Star()).as_("n_rows", quoted=True))
        .from_(select.subquery("suppressed"))
        .group_by(*[exp.Literal.number(n) for n in range(1, len(columns) + 1)])
    )
    fetched = engine.fetch(query)
    rows = fetched.column(fetched.num_columns - 1).to_pylist()
    found: dict[str, Counts] = {}
    at = 0
    for item in recipe.generalized:
        width = len(item.released_names)
        keys = zip(*(_cells(fetched.column(at + i)) for i in range(width)), strict=True)
        counts: Counter[tuple[Cell, ...]] = Counter()
        for key, n in zip(keys, rows, strict=True):
            counts[key] += n
        found[item.name] = counts
        at += width
    return found


def _marked(engine: Engine, recipe: Recipe, staged: exp.Expr, is_marked: exp.Expr) -> Marked:
    subject = compile_release(recipe, keep_subject=True).subject
    rows = exp.Count(this=exp.Star())
    people = rows.copy() if subject is None else _distinct(subject)
    query = (
        exp.select(rows.as_("n_rows", quoted=True), people.as_("n_people", quoted=True))
        .from_(staged.copy())
        .where(is_marked.copy())
    )
    return Marked(*(column[0].as_py() for column in engine.fetch(query).columns))


def _of_majority(
    engine: Engine, staged: exp.Expr, recipe: Recipe, label: ColumnInfo, is_marked: exp.Expr | None
) -> int:
    """The rows that agree with the most frequent label of their class, a NULL being one too."""
    wanted = exp.column(label.name, quoted=True)
    value = wanted if label.kind is None else told_apart(label.name, label.kind, label.type)
    name, rows = unlike("label", recipe.class_names), unlike("n_rows", recipe.class_names)
    classes = class_columns(recipe)
    counts = (
        exp.select(*classes, value.as_(name, quoted=True))
        .select(exp.Count(this=exp.Star()).as_(rows, quoted=True))
        .from_(staged.copy())
        .group_by(*ordinals([*classes, value]))
    )
    if is_marked is not None:
        counts = counts.where(exp.not_(is_marked.copy()))
    most = exp.Max(this=exp.column(rows, quoted=True)).as_(rows, quoted=True)
    largest = (
        exp.select(*classes, most).from_(counts.subquery("counts")).group_by(*ordinals(classes))
    )
    total = exp.Coalesce(
        this=exp.Sum(this=exp.column(rows, quoted=True)), expressions=[exp.Literal.number(0)]
    )
    query = exp.select(total.as_(rows, quoted=True)).from_(largest.subquery("largest"))
    return int(engine.fetch(query).column(0)[0].as_py())


def _people(engine: Engine, recipe: Recipe) -> int:
    counted = exp.Count(this=exp.Star()) if recipe.subject is None else _distinct(recipe.subject)
    query = exp.select(counted.as_("n", quoted=True)).from_(recipe.source.copy())
    number: int = engine.fetch(query).column(0)[0].as_py()
    return number


def _distinct(column: str) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[exp.column(column, quoted=True)]))


def column_losses(recipe: Recipe, tallies: Tallies, source_rows: int) -> dict[str, float]:
    """Per column the mean of (|g|−1)/(|Σ|−1) over the source's rows, 1 for suppressed ones."""
    losses = {}
    for item in recipe.generalized:
        counts = tallies.released[item.name]
        most = item.column.size - 1
        units, rows = 0, sum(counts.values())
        if not keeps_values(item, recipe):
            atoms = _atoms(item)
            units = sum(n * (atoms[key] - 1) for key, n in counts.items() if key in atoms)
            rows = sum(n for key, n in counts.items() if key in atoms)
        hidden = source_rows - rows  # left out, marked, or under the top label
        lost = (units + hidden * most) / (source_rows * most) if most else hidden / source_rows
        losses[item.name] = lost if source_rows else 0.0
    return losses


def _atoms(item: Generalized) -> dict[tuple[Cell, ...], int]:
    """How many atoms each group holds, by what is released for it."""
    sizes = [stop - start for start, stop in item.partition.runs]
    return dict(zip(cells(item), sizes, strict=True))


def scores_of(
    recipe: Recipe,
    losses: Mapping[str, float],
    tallies: Tallies,
    audit: Audit,
    source_rows: int,
    suppressed: int,
) -> dict[str, Any]:
    """The scores of docs/scores.md that follow from the release and the number of source rows."""
    weights = {item.name: item.column.weight for item in recipe.generalized}
    total = sum(weights.values())
    glm = sum(losses.values()) * source_rows
    sizes = _sizes(audit, tallies.marked)
    k, largest = min(sizes, default=0), max(sizes, default=0)
    squares = sum(each.size**2 * each.classes for each in audit.by_rows.sizes)
    scores = {
        "k": k,
        "k_max": largest,
        "classes": sum(sizes.values()),
        "suppressed": suppressed,
        "nwp": sum(losses[name] * w for name, w in weights.items()) / total,
        "necd": (largest - k) / max(tallies.source_people - 1, 1),
        "glm": glm,
        "glm_share": glm / (source_rows * len(losses)),
        "dcn": squares - tallies.marked.rows**2 + source_rows * suppressed,
    }
    if tallies.of_majority is not None:  # a row that is not released is an error
        scores["ce"] = (source_rows - tallies.of_majority) / max(source_rows, 1)
    return scores


def _sizes(audit: Audit, marked: Marked) -> dict[int, int]:
    """How many classes have how many people; marked rows are suppressed, so they are none."""
    sizes = {each.size: each.classes for each in audit.spread.sizes}
    if marked.rows and marked.people in sizes:
        sizes[marked.people] -= 1
    return {size: classes for size, classes in sizes.items() if classes}
