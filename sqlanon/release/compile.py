"""The SELECT that builds a release, put together from its columns."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain import Generalized, RowOrder, Unseen
from sqlanon.errors import CompileError, UncoveredValueError
from sqlanon.release.generalize import (
    Mapping,
    Written,
    as_it_is,
    cell,
    is_not_null,
    is_null,
    written,
)
from sqlanon.release.order import Item, Order, Pseudonym, Verbatim
from sqlanon.release.parts import (
    Names,
    class_values,
    cte,
    list_cte,
    named,
    of,
    ordinals,
    people,
    same_class,
    unlike,
    with_ctes,
)
from sqlanon.release.released_values import check_labels
from sqlanon.release.rows import covered_rows, population_rows, read_from
from sqlanon.release.violations import Scene, unsafe_classes

MOST_LISTED = UncoveredValueError.MOST_VALUES
PSEUDONYM_LENGTH = 32
"""Hexadecimal digits of a pseudonym: 128 bits."""


@dataclass(frozen=True)
class Compiled:
    """A release as SQL.

    select    the SELECT; its parameters, if any, are the keys of pseudonyms
    counts    counts the rows and the people of the source, and for each generalized column the
              rows whose value belongs to no group, in this order
    subject   the name of an additional column with the person each row is about, for the
              verification; None when it was not asked for
    """

    select: exp.Query
    counts: exp.Query
    subject: str | None = None


def compile_release(
    recipe: Order,
    *,
    guarded: bool = False,
    keep_subject: bool = False,
    unsuppressed: bool = False,
) -> Compiled:
    """The SELECT of a release.

    `guarded` leaves out classes that fall short whatever the recipe says, and values that belong
    to no group, so that a view shows no small class when its source changes. Conditions of
    whoever reads the view see NULL in place of what it leaves out. `keep_subject` adds the
    subject, for a staged table that is still to be verified. `unsuppressed` yields all rows, as
    they would be written if no class fell short.
    """
    if not recipe.generalized:
        raise CompileError("there is no quasi-identifier; give at least one column that role")
    check_labels(recipe, guarded=guarded)
    return _Select(recipe, guarded, keep_subject, unsuppressed).compiled()


def compile_uncovered(recipe: Order, name: str) -> exp.Query:
    """Lists the values of one generalized column that belong to no group, most rows first."""
    return _Select(recipe, False, False, False).uncovered(name)


class _Select:
    def __init__(
        self,
        recipe: Order,
        guarded: bool,
        keep_subject: bool,
        unsuppressed: bool,
    ) -> None:
        self._recipe = recipe
        self._is_guarded = guarded and not unsuppressed
        self._suppress = (guarded or recipe.suppress) and not unsuppressed
        self._only_covered = guarded or recipe.unseen is Unseen.LEAVE_OUT
        relations = [recipe.source, *([] if recipe.population is None else [recipe.population])]
        self._names = Names(*relations)
        self._written = [(item, self._write(item)) for item in recipe.items]
        self._subject: str | None = None
        if recipe.subject is not None and (keep_subject or self._suppress):
            self._subject = unlike("subject", recipe.released_names)
        self._keep_subject = keep_subject and self._subject is not None
        self._sensitive = self._carried()

    def compiled(self) -> Compiled:
        if self._suppress:
            select = self._suppressed()
        else:
            generalized, lists = self._generalized()
            select = with_ctes(self._ordered(generalized), [list_cte(each) for each in lists])
        subject = self._subject if self._keep_subject else None
        return Compiled(select, self._counts(), subject)

    def _write(self, item: Item) -> Written:
        if isinstance(item, Generalized):
            name = self._names.free(f"{item.name}_map")
            return written(item, self._recipe, name)
        if isinstance(item, Pseudonym):
            return Written((_pseudonym(item),))
        return Written((as_it_is(item.name, item.type),))

    def _carried(self) -> dict[str, str]:
        """Under which names the rows carry the columns that models speak of.

        Most are released as they are and need no place of their own.
        """
        released = {item.name for item in self._recipe.items if isinstance(item, Verbatim)}
        taken = [*self._recipe.released_names, *([self._subject] if self._subject else [])]
        found = {}
        for column in self._recipe.measured:
            name = column.name
            found[name] = name if name in released else unlike(name, taken)
            taken.append(found[name])
        return found

    def _generalized(self) -> tuple[exp.Select, list[Mapping]]:
        """One row per row of the source, every column as it is released; and its lists."""
        outputs = [
            expression.copy().as_(name, quoted=True)
            for item, as_sql in self._written
            for name, expression in zip(item.released_names, as_sql.outputs, strict=True)
        ]
        if self._subject is not None:
            assert self._recipe.subject is not None
            outputs.append(cell(self._recipe.subject).as_(self._subject, quoted=True))
        for column in self._recipe.measured if self._suppress else ():
            carried = self._sensitive[column.name]
            if carried not in self._recipe.released_names:
                outputs.append(as_it_is(column.name, column.type).as_(carried, quoted=True))
        select = exp.select(*outputs)
        if self._only_covered:
            select = covered_rows(select, self._columns)
        return read_from(select, self._recipe.source, self._columns)

    @property
    def _columns(self) -> list[Written]:
        return [as_sql for _, as_sql in self._written]

    def _suppressed(self) -> exp.Select:
        """Rows of classes that fall short are left out or marked.

        A window counts the rows of a class beside each of them. People and models take classes
        of their own, which the rows are joined with.

        Of a guarded view, a reader's conditions see nothing but NULL in what it leaves out. A
        database evaluates the conditions of whoever reads a view where it likes, also below
        the WHERE of the view and on rows that this leaves out; an error of theirs, such as a
        failing cast, would show a hidden value. So every column is wrapped in a CASE on a count
        over the row's class. The count is a window's because no condition on its result can be
        evaluated before it is complete, as one on a joined column can.
        """
        recipe, names, guarded = self._recipe, self._shown_names, self._is_guarded
        rows = place = self._names.free("generalized")
        generalized, lists = self._generalized()
        columns = [of(rows, name) for name in names]
        steps, join = [cte(rows, generalized)], None
        if self._subject is None and not recipe.models:
            place, count = self._names.free("counted"), unlike("people", names)
            size = self._over_class(exp.Star(), rows).as_(count, quoted=True)
            steps.append(cte(place, exp.select(*columns, size).from_(named(rows))))
            k = exp.Literal.number(recipe.k)
            holds: exp.Expr = of(place, count) >= k
            falls_short: exp.Expr = of(place, count) < k
        else:
            parts, unsafe, flag = self._unsafe_classes(rows, lists)
            steps += parts
            join = exp.Join(this=named(unsafe), on=same_class(recipe, rows, unsafe), side="LEFT")
            holds, falls_short = is_null(of(unsafe, flag)), is_not_null(of(unsafe, flag))
            if guarded:
                place, count = self._names.free("counted"), unlike("unsafe_rows", names)
                unsafe_rows = self._over_class(of(unsafe, flag), rows).as_(count, quoted=True)
                select = exp.select(*columns, unsafe_rows).from_(named(rows)).join(join)
                steps.append(cte(place, select))
                join, none = None, exp.Literal.number(0)
                holds = exp.EQ(this=of(place, count), expression=none)
        outputs = [self._shown(name, place, holds, falls_short) for name in names]
        select = exp.select(*outputs).from_(named(place))
        if join is not None:
            select = select.join(join)
        if guarded or recipe.marker is None:
            select = select.where(holds)
        by_name = {mapping.name: mapping for mapping in lists}
        return with_ctes(self._ordered(select), [*map(list_cte, by_name.values()), *steps])

    def _shown(self, name: str, place: str, holds: exp.Expr, falls_short: exp.Expr) -> exp.Expr:
        value, recipe = of(place, name), self._recipe
        if self._is_guarded:
            shown = exp.Case(ifs=[exp.If(this=holds.copy(), true=value)])
        elif recipe.marker is None or name not in recipe.class_names:
            return value
        else:
            marker = exp.Literal.string(recipe.marker)
            shown = exp.Case(ifs=[exp.If(this=falls_short.copy(), true=marker)], default=value)
        return shown.as_(name, quoted=True)

    def _over_class(self, counted: exp.Expr, rows: str) -> exp.Window:
        """A count over the rows of a row's class."""
        values = [value for _, value in class_values(self._recipe, rows)]
        return exp.Window(this=exp.Count(this=counted), partition_by=values)

    @property
    def _shown_names(self) -> list[str]:
        subject = [self._subject] if self._keep_subject and self._subject is not None else []
        return [*self._recipe.released_names, *subject]

    def _unsafe_classes(self, rows: str, lists: list[Mapping]) -> tuple[list[exp.CTE], str, str]:
        """The steps to the classes that fall short, the name of the last, and of its flag.

        What the population reads in addition is added to the lists.
        """
        recipe = self._recipe
        if not recipe.models:
            small = self._names.free("small_classes")
            flag = unlike("is_small", recipe.class_names)
            return [cte(small, self._small_classes(rows, flag))], small, flag
        population = None
        if recipe.counts_population:
            columns = [(i, as_sql) for i, as_sql in self._written if isinstance(i, Generalized)]
            population, read = population_rows(recipe, columns)
            lists += read
        scene = Scene(
            recipe=recipe,
            names=self._names,
            rows=rows,
            subject=self._subject,
            carried=self._sensitive,
            rows_are_all=not self._only_covered,
            population=population,
        )
        return unsafe_classes(scene)

    def _small_classes(self, rows: str, flag: str) -> exp.Select:
        classes = class_columns(self._recipe)
        subject = None if self._subject is None else exp.column(self._subject, quoted=True)
        return (
            exp.select(*classes, exp.true().as_(flag, quoted=True))
            .from_(named(rows))
            .group_by(*ordinals(classes))
            .having(people(subject) < exp.Literal.number(self._recipe.k))
        )

    def _ordered(self, select: exp.Select) -> exp.Select:
        if self._recipe.row_order is RowOrder.SHUFFLED:
            return select.order_by(exp.Rand())
        return select.order_by(*ordinals(self._recipe.released_names))

    def uncovered(self, name: str) -> exp.Query:
        (as_sql,) = (
            as_sql
            for item, as_sql in self._written
            if isinstance(item, Generalized) and item.name == name
        )
        listed = exp.select(exp.cast(cell(name), "text").as_("value", quoted=True))
        if as_sql.covered is not None:
            listed = listed.where(exp.Is(this=as_sql.covered.copy(), expression=exp.true()).not_())
        select, lists = read_from(listed, self._recipe.source, self._columns)
        most = exp.Count(this=exp.Star()).desc()
        ordered = select.group_by("1").order_by(most, "1").limit(MOST_LISTED)
        return with_ctes(ordered, [list_cte(each) for each in lists])

    def _counts(self) -> exp.Query:
        names = [item.name for item in self._recipe.generalized]
        subject = self._recipe.subject
        counted = people(None if subject is None else cell(subject))
        counts: list[exp.Expr] = [
            exp.Count(this=exp.Star()).as_(unlike("n_rows", names), quoted=True),
            counted.as_(unlike("n_people", names), quoted=True),
        ]
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
        select, lists = read_from(exp.select(*counts), self._recipe.source, self._columns)
        return with_ctes(select, [list_cte(each) for each in lists])


def class_columns(recipe: Order) -> list[exp.Expr]:
    """The columns whose equal values make a class, as a GROUP BY by number must read them."""
    return [
        value.as_(name, quoted=True) if isinstance(value, exp.Collate) else value
        for name, value in class_values(recipe)
    ]


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
