"""The SELECT that builds a release, put together from its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from sqlglot import exp

from sqlanon.compile.generalize import Written, written
from sqlanon.compile.mappings import Mapping
from sqlanon.compile.present import check_marker, is_text
from sqlanon.compile.recipe import Generalized, Item, Pseudonym, Recipe, Verbatim
from sqlanon.compile.values import SOURCE, cell, is_null
from sqlanon.errors import CompileError
from sqlanon.histogram.atoms import exact
from sqlanon.model import Order, Unseen

PSEUDONYM_LENGTH = 32
"""Hexadecimal digits of a pseudonym: 128 bits."""


@dataclass(frozen=True)
class Compiled:
    """A release as SQL.

    select    the SELECT; its parameters, if any, are the keys of pseudonyms
    unseen    counts, for each generalized column, the rows whose value belongs to no group;
              its columns are named as the source's
    subject   the name of an additional column with the person each row is about, for the
              verification; None when it was not asked for
    """

    select: exp.Query
    unseen: exp.Query
    subject: str | None = None


def compile_release(
    recipe: Recipe, *, guarded: bool = False, keep_subject: bool = False, standard: bool = False
) -> Compiled:
    """The SELECT of a release.

    `guarded` leaves out classes below k whatever the recipe says, and values that belong to
    no group: a view stays safe when its source changes. `keep_subject` adds the subject, for
    a staged table that is still to be verified. `standard` keeps to joins that every database
    has; without it values find their intervals by ASOF joins, which yield the same rows.
    """
    if not recipe.generalized:
        raise CompileError("there is no quasi-identifier; give at least one column that role")
    check_marker(recipe)
    if guarded and recipe.marker is not None:
        raise CompileError(
            "suppression.rows: a view leaves small classes out; it cannot mark them, because "
            "the marked rows might become too few later"
        )
    return _Select(recipe, guarded, keep_subject, standard).compiled()


class _Select:
    def __init__(self, recipe: Recipe, guarded: bool, keep_subject: bool, standard: bool) -> None:
        self._recipe = recipe
        self._standard = standard
        self._suppress = guarded or recipe.suppress
        self._only_covered = guarded or recipe.unseen is Unseen.LEAVE_OUT
        self._names = _free_names(recipe.source)
        self._written = [(item, self._write(item)) for item in recipe.items]
        self._subject: str | None = None
        if recipe.subject is not None and (keep_subject or self._suppress):
            self._subject = _unlike("subject", recipe.released_names)
        self._keep_subject = keep_subject and self._subject is not None

    def compiled(self) -> Compiled:
        if self._suppress:
            select = self._without_small_classes()
        else:
            generalized, lists = self._generalized()
            select = _with_ctes(self._ordered(generalized), lists)
        subject = self._subject if self._keep_subject else None
        return Compiled(select, self._unseen(), subject)

    def _write(self, item: Item) -> Written:
        if isinstance(item, Generalized):
            name = self._name(f"{item.name}_map")
            return written(item, self._recipe, name, standard=self._standard)
        if isinstance(item, Pseudonym):
            return Written((_pseudonym(item),))
        return Written((_verbatim(item),))

    def _generalized(self) -> tuple[exp.Select, list[exp.CTE]]:
        """One row per row of the source, every column as it is released; and its lists."""
        outputs = [
            expression.copy().as_(name, quoted=True)
            for item, as_sql in self._written
            for name, expression in zip(item.released_names, as_sql.outputs, strict=True)
        ]
        if self._subject is not None:
            assert self._recipe.subject is not None
            outputs.append(cell(self._recipe.subject).as_(self._subject, quoted=True))
        select = exp.select(*outputs)
        if self._only_covered:
            covered = [as_sql.covered for _, as_sql in self._written if as_sql.covered is not None]
            select = select.where(*covered) if covered else select
        return self._from_source(select)

    def _from_source(self, select: exp.Select) -> tuple[exp.Select, list[exp.CTE]]:
        """A SELECT of the source, joined with the lists that it reads; and these lists."""
        read = {column.table for column in select.find_all(exp.Column)}
        select = select.from_(_as_source(self._recipe.source))
        lists = []
        for _, as_sql in self._written:
            mapping = as_sql.mapping
            if mapping is not None and mapping.name in read:
                # DuckDB compares a row with half of the intervals in a range join.
                on, kind = mapping.condition, "left"
                if mapping.nearest is not None:
                    on, kind = mapping.nearest, "asof left"
                select = select.join(_table(mapping.name), on=on, join_type=kind)
                lists.append(_list(mapping))
        return select, lists

    def _without_small_classes(self) -> exp.Select:
        """Rows of classes below k are found by a GROUP BY, and left out or marked."""
        recipe = self._recipe
        rows, small = self._name("generalized"), self._name("small_classes")
        flag = _unlike("is_small", recipe.class_names)
        classes = class_columns(recipe)
        people: exp.Expr = exp.Count(this=exp.Star())
        if self._subject is not None:
            subject = exp.column(self._subject, quoted=True)
            people = exp.Count(this=exp.Distinct(expressions=[subject]))
        too_few = (
            exp.select(*classes, exp.true().as_(flag, quoted=True))
            .from_(_table(rows))
            .group_by(*[exp.Literal.number(n) for n in range(1, len(classes) + 1)])
            .having(people < exp.Literal.number(recipe.k))
        )
        same = exp.and_(
            *[
                exp.NullSafeEQ(this=value, expression=_of(small, name))
                for name, value in _class_values(recipe, rows)
            ]
        )
        names = [*recipe.released_names, *([self._subject] if self._keep_subject else [])]
        outputs = [self._shown(name, rows, _of(small, flag)) for name in names if name is not None]
        select = exp.select(*outputs).from_(_table(rows))
        select = select.join(_table(small), on=same, join_type="left")
        if recipe.marker is None:
            select = select.where(is_null(_of(small, flag)))
        generalized, lists = self._generalized()
        ctes = [*lists, _cte(rows, generalized), _cte(small, too_few)]
        return _with_ctes(self._ordered(select), ctes)

    def _shown(self, name: str, rows: str, is_small: exp.Expr) -> exp.Expr:
        value = _of(rows, name)
        if self._recipe.marker is None or name not in self._recipe.class_names:
            return value
        marked = exp.If(this=is_small, true=exp.Literal.string(self._recipe.marker))
        return exp.Case(ifs=[marked], default=value).as_(name, quoted=True)

    def _ordered(self, select: exp.Select) -> exp.Select:
        if self._recipe.order is Order.SHUFFLED:
            return select.order_by(exp.Rand())
        numbers = range(1, len(self._recipe.released_names) + 1)
        return select.order_by(*[exp.Literal.number(n) for n in numbers])

    def _unseen(self) -> exp.Query:
        counts = []
        for item, as_sql in self._written:
            if not isinstance(item, Generalized):
                continue
            # Where the value is NULL, `covered` may be NULL too: only TRUE counts.
            covered: exp.Expr = exp.Count(this=exp.Star())
            if as_sql.covered is not None:
                yes = exp.If(this=as_sql.covered.copy(), true=exp.Literal.number(1))
                covered = exp.Count(this=exp.Case(ifs=[yes]))
            missing = exp.Sub(this=exp.Count(this=exp.Star()), expression=covered)
            counts.append(missing.as_(item.name, quoted=True))
        return _with_ctes(*self._from_source(exp.select(*counts)))

    def _name(self, wanted: str) -> str:
        name = _unlike(wanted, self._names)
        self._names.add(name)
        return name


def class_columns(recipe: Recipe) -> list[exp.Expr]:
    """The columns whose equal values make a class, as a GROUP BY by number must read them."""
    return [
        value.as_(name, quoted=True) if isinstance(value, exp.Collate) else value
        for name, value in _class_values(recipe)
    ]


def _class_values(recipe: Recipe, table: str | None = None) -> Iterator[tuple[str, exp.Expr]]:
    """By name what is compared: texts exactly, but a column with one label needs no care."""
    for item in recipe.generalized:
        for name in item.released_names:
            value = exp.column(name, table=table, quoted=True)
            yield name, exact(value) if is_text(item, recipe) and not item.takes_all else value


def _verbatim(item: Verbatim) -> exp.Expr:
    """The column, but not as an ENUM.

    Such a type lists every value, also those that the release does not hold.
    """
    value = cell(item.name)
    if "ENUM" not in item.type.upper():
        return value
    plain = exp.DataType.build(item.type, dialect="duckdb")
    listed = [each for each in plain.find_all(exp.DataType) if each.is_type("enum")]
    for each in listed:
        text = exp.DataType.build("text")
        if each is plain:
            plain = text
        else:
            each.replace(text)
    return exp.cast(value, plain) if listed else value


def _pseudonym(item: Pseudonym) -> exp.Expr:
    """A keyed hash in what databases offer: SHA-256 of key and SHA-256 of key and value.

    Hashed once, a value could be lengthened without the key.
    """
    key = exp.Placeholder(this=item.key)
    inner = exp.DPipe(this=key, expression=exp.cast(cell(item.name), "text"))
    outer = exp.DPipe(this=key.copy(), expression=_sha256(inner))
    return exp.Left(this=_sha256(outer), expression=exp.Literal.number(PSEUDONYM_LENGTH))


def _sha256(text: exp.Expr) -> exp.Expr:
    return exp.SHA2(this=text, length=exp.Literal.number(256))


def _as_source(relation: exp.Expr) -> exp.Expr:
    """The relation under the name by which columns are read."""
    aliased = relation.copy()
    aliased.set("alias", exp.TableAlias(this=exp.to_identifier(SOURCE, quoted=True)))
    return aliased


def _free_names(source: exp.Expr) -> set[str]:
    """Names that a CTE must not have: it would hide a table that the source reads."""
    return {SOURCE, *(table.name.lower() for table in source.find_all(exp.Table))}


def _unlike(wanted: str, taken: Iterable[str]) -> str:
    used = {name.lower() for name in taken}
    numbered = (wanted if n == 1 else f"{wanted}_{n}" for n in count(1))
    return next(name for name in numbered if name.lower() not in used)


def _of(table: str, column: str) -> exp.Column:
    return exp.column(column, table=table, quoted=True)


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _list(mapping: Mapping) -> exp.CTE:
    names = (*mapping.keys, *mapping.released)
    columns = [exp.to_identifier(column, quoted=True) for column in names]
    alias = exp.TableAlias(this=exp.to_identifier(mapping.name, quoted=True), columns=columns)
    values = exp.Values(expressions=mapping.tuples(), alias=alias)
    return _cte(mapping.name, exp.Select(expressions=[exp.Star()], from_=exp.From(this=values)))


def _cte(name: str, query: exp.Query) -> exp.CTE:
    return exp.CTE(this=query, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))


def _with_ctes(select: exp.Select, ctes: list[exp.CTE]) -> exp.Select:
    """Added last and in place: sqlglot's builders copy everything at every step."""
    if ctes:
        select.set("with_", exp.With(expressions=ctes))
    return select
