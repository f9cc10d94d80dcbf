"""Rows of classes that violate a privacy model, against an oracle in plain Python."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from model_oracle import Shares, is_violated
from sqlglot import exp

from sqlanon.domain import Generalized
from sqlanon.domain.atoms import ValueDomain
from sqlanon.domain.column import Column, Partition
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.domain.presentation import Form, Unseen
from sqlanon.engines.protocol import Kind
from sqlanon.privacy.alpha_k import AlphaAnonymity
from sqlanon.privacy.beta_likeness import BetaLikeness
from sqlanon.privacy.delta_disclosure import DeltaDisclosure
from sqlanon.privacy.k_map import KMap
from sqlanon.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from sqlanon.privacy.model import Model
from sqlanon.privacy.t_closeness import Closeness, Distance
from sqlanon.release.compile import compile_release, statement_text
from sqlanon.release.order import MeasuredColumn, Order, Verbatim
from sqlanon.release.rows import compile_population

CONNECTION = duckdb.connect(config={"threads": "1"})
TEXTS = ["flu", "Flu", "it's", 'a"b', "ｆｌｕ", "", "naïve ☃", "x;--"]
POOLS: dict[Kind, tuple[str, pa.DataType, list[Any]]] = {
    Kind.TEXT: ("VARCHAR", pa.string(), TEXTS),
    Kind.INTEGER: ("BIGINT", pa.int64(), [-5, 0, 1, 2, 7, 2**40]),
    Kind.FLOAT: ("DOUBLE", pa.float64(), [-1.5, -0.0, 0.0, 0.1, 1e300]),
    Kind.DATE: ("DATE", pa.date32(), [dt.date(2024, 1, day) for day in (1, 2, 9, 31)]),
}
ENUM = "ENUM(" + ", ".join("'" + text.replace("'", "''") + "'" for text in TEXTS) + ")"
HOSTILE = ["class", "people", "value", "classes", "members", "generalized", "total", "subject",
           "is_unsafe", "population", "values", 'q"1', "n" * 60, "level", "x.y"]  # fmt: skip
KNOWN, NEW = ["a", "A", "b's", "ü", "e"], ["new", "E"]


@dataclass
class Sensed:
    """A sensitive column, and the names above each leaf of its hierarchy."""

    name: str
    kind: Kind
    type: str
    is_released: bool
    cells: list[Any]
    paths: dict[Hashable, list[str]]

    @property
    def values(self) -> list[Hashable]:
        """NULL is a value, and so are both zeros."""
        return [cell + 0.0 if isinstance(cell, float) else cell for cell in self.cells]


@dataclass
class Case:
    quasis: list[str]
    rows: list[list[Any]]  # of quasi-identifiers
    everybody: list[list[Any]]  # the same in the population
    groups: list[list[int]]  # of each quasi-identifier the group of its known values
    sensitive: list[Sensed]
    people: list[int | None]
    everybodys: list[int]
    by_subject: bool
    by_subject_outside: bool
    options: dict[str, Any]
    guarded: bool
    rng: random.Random = field(repr=False)

    def class_of(self, row: list[Any]) -> Hashable | None:
        """None for a row with a value that the scheme has not seen."""
        if any(cell in NEW for cell in row):
            return None
        pairs = zip(row, self.groups, strict=True)
        return tuple(None if c is None else groups[KNOWN.index(c)] for c, groups in pairs)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    names = draw(st.lists(st.sampled_from(HOSTILE), min_size=3, max_size=4, unique=True))
    n_quasi = rng.randint(1, 2)
    leaves_out = draw(st.booleans())
    marks = draw(st.booleans())
    unseen = draw(st.sampled_from([Unseen.LEAVE_OUT, Unseen.ERROR]))
    guarded = not marks and draw(st.booleans())
    with_new = leaves_out and (guarded or unseen is Unseen.LEAVE_OUT)

    def some_rows(most: int, with_new: bool) -> list[list[Any]]:
        cells = [*KNOWN, None, *(NEW if with_new else [])]
        return [[rng.choice(cells) for _ in range(n_quasi)] for _ in range(rng.randint(1, most))]

    rows = some_rows(40, with_new)
    everybody = some_rows(60, True)
    groups = []
    for _ in range(n_quasi):
        cuts = sorted(rng.sample(range(1, len(KNOWN)), rng.randint(0, 2)))
        groups.append([sum(cut <= i for cut in cuts) for i in range(len(KNOWN))])
    n_people = rng.randint(1, len(rows))
    people: list[int | None] = [rng.randint(1, n_people) for _ in rows]
    if rng.random() < 0.2:
        people = [None if rng.random() < 0.2 else person for person in people]
    return Case(
        names[:n_quasi],
        rows,
        everybody,
        groups,
        [sensed(rng, name, len(rows)) for name in names[n_quasi:]],
        people,
        [rng.randint(1, 20) for _ in everybody],
        draw(st.booleans()),
        draw(st.booleans()),
        {
            "suppress": True,
            "unseen": unseen,
            "marker": "(unsafe)" if marks else None,
            "k": rng.randint(1, 3),
        },
        guarded,
        rng,
    )


def sensed(rng: random.Random, name: str, rows: int) -> Sensed:
    kind = rng.choice([Kind.TEXT, *POOLS])
    type_, _, pool = POOLS[kind]
    pool = rng.sample(pool, rng.randint(1, len(pool)))
    if kind is Kind.TEXT and rng.random() < 0.3:
        type_ = ENUM
    nulls = rng.choice([0.0, 0.2])
    cells = [None if rng.random() < nulls else rng.choice(pool) for _ in range(rows)]
    paths = {}
    if kind is Kind.TEXT:
        leaves = rng.sample(TEXTS, rng.randint(1, len(TEXTS)))
        height = rng.randint(1, 3)
        for leaf in leaves:
            middle = rng.choice("xy")
            steps = [[], [middle], [f"{middle}{rng.choice('12')}", middle]][height - 1]
            paths[leaf] = [*steps, "root"]
    return Sensed(name, kind, type_, rng.random() < 0.7, cells, paths)


def statistics(case: Case, column: Sensed, model: Model, member: list[int]) -> Any:
    """What the oracle measures of one class."""
    people = case.people if case.by_subject else list(range(len(case.rows)))
    values = column.values
    p = Shares.of((people[i], values[i]) for i in member if people[i] is not None)
    q = Shares.of((w, v) for w, v in zip(people, values, strict=True) if w is not None)
    match model:
        case DistinctDiversity():
            return p.distinct()
        case EntropyDiversity():
            return p.perplexity()
        case RecursiveDiversity():
            return p.recursive(model.l)
        case Closeness(distance=Distance.EQUAL):
            return p.equal(q)
        case Closeness(distance=Distance.ORDERED):
            return p.ordered(q, sorted(q.counts, key=lambda v: (v is None, 0 if v is None else v)))
        case Closeness():
            return p.hierarchical(q, [[leaf, *path] for leaf, path in column.paths.items()])
        case BetaLikeness():
            return p.gain(q)
        case DeltaDisclosure():
            return p.ratio(q)
    assert isinstance(model, AlphaAnonymity)
    return p.share()


SIGNS: dict[type[Model], str] = {
    DistinctDiversity: ">=", EntropyDiversity: ">=", RecursiveDiversity: "<", Closeness: "<=",
    BetaLikeness: "<=", DeltaDisclosure: "<", AlphaAnonymity: "<=",
}  # fmt: skip


def random_model(case: Case, column: Sensed, classes: list[list[int]]) -> Model:
    """A model whose bound some class meets exactly, half of the time."""
    rng, name = case.rng, column.name
    distances = [Distance.EQUAL]
    if column.kind is not Kind.TEXT:
        distances.append(Distance.ORDERED)
    if column.paths:
        distances.append(Distance.HIERARCHICAL)
    made = rng.choice([
        lambda b: DistinctDiversity(name, max(1, round(b))),
        lambda b: EntropyDiversity(name, b),
        lambda b: RecursiveDiversity(name, b, least),
        lambda b: Closeness(name, b, distance),
        lambda b: Closeness(name, b, distance),
        lambda b: BetaLikeness(name, b),
        lambda b: DeltaDisclosure(name, b),
        lambda b: AlphaAnonymity(name, b),
    ])  # fmt: skip
    least, distance = rng.randint(1, 3), rng.choice(distances)
    bound = rng.choice([0.1, 0.3, 0.5, 1, 1.5, 2, 2.5])
    named = [c for c in classes if any(case.people[i] is not None for i in c)]
    if named and rng.random() < 0.6:
        reached = float(statistics(case, column, made(bound), rng.choice(named)))
        bound = reached if reached not in (0, math.inf) else bound
    return made(bound)


def fill(name: str, columns: dict[str, pa.Array], types: dict[str, str]) -> None:
    CONNECTION.register(
        "arriving", pa.table(list(columns.values()), list(map(str, range(len(columns)))))
    )
    parts = [
        exp.cast(exp.column(str(n), quoted=True), exp.DataType.build(types[c], dialect="duckdb"))
        .as_(c, quoted=True)
        for n, c in enumerate(columns)
    ]  # fmt: skip
    text = exp.select(*parts).from_("arriving").sql("duckdb")
    CONNECTION.execute(f"CREATE OR REPLACE TABLE {name} AS {text}")
    CONNECTION.unregister("arriving")


def make_tables(case: Case) -> None:
    quasis = {
        name: pa.array([row[j] for row in case.rows], pa.string())
        for j, name in enumerate(case.quasis)
    }
    types = dict.fromkeys(case.quasis, "VARCHAR") | {"row id": "BIGINT", "who": "BIGINT"}
    others = {s.name: pa.array(s.cells, POOLS[s.kind][1]) for s in case.sensitive}
    ids = {"row id": pa.array(range(len(case.rows))), "who": pa.array(case.people, pa.int64())}
    fill("people", quasis | others | ids, types | {s.name: s.type for s in case.sensitive})
    outside = {
        name: pa.array([row[j] for row in case.everybody], pa.string())
        for j, name in enumerate(case.quasis)
    }
    fill("everybody", outside | {"who": pa.array(case.everybodys, pa.int64())}, types)


def order_of(case: Case, models: tuple[Model, ...], form: Form) -> Order:
    domain = {
        name: ValueDomain(name, Kind.TEXT, tuple(KNOWN), has_null=True) for name in case.quasis
    }
    items = [
        Generalized(
            Column(domain[name]),
            Partition(len(KNOWN) + 1, (*(i - 1 for i in range(1, len(KNOWN)) if g[i] != g[i - 1]),
                                       len(KNOWN) - 1)),
            "VARCHAR",
            form=form,
        )
        for name, g in zip(case.quasis, case.groups, strict=True)
    ]  # fmt: skip
    shown = [Verbatim(s.name, s.type) for s in case.sensitive if s.is_released]
    trees = {
        s.name: Hierarchy.from_rows([[leaf, *path] for leaf, path in s.paths.items()], "tree")
        for s in case.sensitive
        if s.paths
    }
    return Order(
        exp.table_("people", quoted=True),
        (*items, *shown, Verbatim("row id", "BIGINT")),
        subject="who" if case.by_subject else None,
        models=models,
        sensitive=tuple(MeasuredColumn(s.name, s.type, s.kind) for s in case.sensitive),
        hierarchies=trees,
        population=exp.table_("everybody", quoted=True),
        population_subject="who" if case.by_subject_outside else None,
        **case.options,
    )


def people_outside(case: Case, of_class: Hashable) -> int:
    fitting = [i for i, row in enumerate(case.everybody) if case.class_of(row) == of_class]
    return len({case.everybodys[i] for i in fitting} if case.by_subject_outside else fitting)


@settings(max_examples=250, deadline=None)
@given(cases())
def test_the_rows_of_unsafe_classes_are_those_of_the_oracle(case: Case) -> None:
    make_tables(case)
    members: dict[Hashable, list[int]] = {}
    for number, row in enumerate(case.rows):
        if (found := case.class_of(row)) is not None:
            members.setdefault(found, []).append(number)
    chosen = [case.rng.choice(case.sensitive) for _ in range(case.rng.randint(1, 3))]
    if not any(person is not None for person in case.people) and case.by_subject:
        return  # nobody is there: nothing to compare with
    pairs = [(c, random_model(case, c, [*members.values()])) for c in chosen] if members else []
    least = case.rng.choice([0, 1, 3, 5])
    models = (*(model for _, model in pairs), *([KMap(None, least)] if least else []))
    if not models:
        return
    recipe = order_of(case, models, case.rng.choice([Form.CASE, Form.JOIN]))

    unsafe = set()
    for of_class, member in members.items():
        people = [case.people[i] if case.by_subject else i for i in member]
        named = set(people) - {None}
        if (
            len(named) < case.options["k"]
            or people_outside(case, of_class) < least
            or any(
                is_violated(statistics(case, c, m, member), SIGNS[type(m)], m.bound)
                for c, m in pairs
            )
        ):
            unsafe |= set(member)
    expected = {i for member in members.values() for i in member} - unsafe

    for standard in (False, True):
        select = compile_release(replace(recipe, standard=standard), guarded=case.guarded).select
        found = CONNECTION.sql(statement_text(select, "duckdb")).to_arrow_table()
        assert found.column_names == list(recipe.released_names)
        ids = found["row id"].to_pylist()
        assert len(ids) == len(set(ids)), "a row of the source twice"
        if recipe.marker is not None and not case.guarded:
            marked = {
                row["row id"] for row in found.to_pylist() if row[case.quasis[0]] == recipe.marker
            }
            assert marked == unsafe
            assert set(ids) == expected | unsafe
        else:
            assert set(ids) == expected
        outside = CONNECTION.sql(statement_text(compile_population(recipe), "duckdb"))
        fitting = [row for row in case.everybody if case.class_of(row) is not None]
        assert len(outside.fetchall()) == len(fitting)
