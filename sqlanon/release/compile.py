"""The SELECT that builds a release, and its text in any dialect.

Chooses the template of sql/release, and makes what stands in its cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlglot
from sqlglot import exp

from sqlanon.domain import Generalized, RowOrder, Unseen, exact
from sqlanon.engines import is_spelled_once, is_text_once_released
from sqlanon.errors import CompileError, UncoveredValueError
from sqlanon.release.generalize import (
    Mapping,
    Written,
    as_it_is,
    cell,
    check_labels,
    written,
)
from sqlanon.release.lists import with_named_lists
from sqlanon.release.order import Item, Order, Pseudonym, Verbatim
from sqlanon.release.pseudonym import pseudonym
from sqlanon.release.rows import (
    Context,
    Names,
    class_values,
    generalized,
    in_class,
    ordinals,
    people,
    population_rows,
    read_from,
    released_outputs,
    unlike,
    with_lists,
)
from sqlanon.release.tree_sql import TreeSql
from sqlanon.release.violations import UnsafeClasses
from sqlanon.render import NATIVE, in_dialect, query

MOST_LISTED = UncoveredValueError.MOST_VALUES


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
    return _Compilation(recipe, guarded, keep_subject, unsuppressed).compiled()


def compile_classes(recipe: Order, *, guarded: bool = False) -> exp.Query:
    """Counts the rows of each class of a release; `guarded` as for `compile_release`."""
    release = compile_release(recipe, guarded=guarded).select
    release.set("order", None)
    return query(
        "release/class_sizes.sql",
        class_columns=_class_columns(recipe),
        release=release.subquery("released", copy=False),
    )


def compile_uncovered(recipe: Order, name: str) -> exp.Query:
    """Lists the values of one generalized column that belong to no group, most rows first."""
    return _Compilation(recipe, False, False, False, by_column=True).uncovered(name)


class _Compilation:
    """Chooses the template of a statement and makes its cells."""

    def __init__(
        self,
        recipe: Order,
        guarded: bool,
        keep_subject: bool,
        unsuppressed: bool,
        *,
        by_column: bool = False,
    ) -> None:
        self._recipe = recipe
        self._is_guarded = guarded and not unsuppressed
        self._suppress = (guarded or recipe.suppress) and not unsuppressed
        self._only_covered = guarded or recipe.unseen is Unseen.LEAVE_OUT
        relations = [recipe.source, *([] if recipe.population is None else [recipe.population])]
        self._names = Names(*relations)
        self._tree = None
        if recipe.tree is not None:
            self._tree = TreeSql(recipe, recipe.tree, self._names, by_column)
        self._written = [(item, self._write(item)) for item in recipe.items]
        self._steps: list[exp.CTE] = []
        self._subject: str | None = None
        if recipe.subject is not None and (keep_subject or self._suppress):
            self._subject = unlike("subject", recipe.released_names)
        self._keep_subject = keep_subject and self._subject is not None
        self._sensitive = self._carried()

    def compiled(self) -> Compiled:
        context, lists = self._rows()
        context["order"] = self._order()
        if not self._suppress:
            select = query("release/plain.sql", **context)
        elif self._subject is None and not self._recipe.models:
            select = self._suppressed_by_rows(context)
        else:
            select = self._suppressed_by_classes(context, lists)
        subject = self._subject if self._keep_subject else None
        by_column = self
        if self._tree is not None:
            by_column = _Compilation(self._recipe, False, False, False, by_column=True)
        return Compiled(with_lists(select, lists, self._steps), by_column.counts(), subject)

    def _write(self, item: Item) -> Written:
        if isinstance(item, Generalized):
            if self._tree is not None and item.boxes is not None:
                return self._tree.written[item.name]
            name = self._names.free(f"{item.name}_map")
            return written(item, self._recipe, name)
        if isinstance(item, Pseudonym):
            return Written((pseudonym(item.name, item.key),))
        return Written((as_it_is(item.name, item.type),))

    def _carried(self) -> dict[str, str]:
        """The names under which the rows carry the columns of models.

        Most are released unchanged and need no column of their own.
        """
        released = {item.name for item in self._recipe.items if isinstance(item, Verbatim)}
        taken = [*self._recipe.released_names, *([self._subject] if self._subject else [])]
        found = {}
        for column in self._recipe.measured:
            name = column.name
            found[name] = name if name in released else unlike(name, taken)
            taken.append(found[name])
        return found

    def _rows(self) -> tuple[Context, list[Mapping]]:
        """One row per row of the source, every column as it is released; and its lists."""
        recipe = self._recipe
        outputs = released_outputs(self._written)
        if self._subject is not None:
            assert recipe.subject is not None
            outputs[self._subject] = cell(recipe.subject)
        for column in recipe.measured if self._suppress else ():
            outputs.setdefault(self._sensitive[column.name], as_it_is(column.name, column.type))
        only_covered = self._only_covered
        relation = recipe.source
        if self._tree is not None:
            self._steps, relation = self._tree.steps(relation)
        return generalized(relation, self._columns, outputs, only_covered=only_covered)

    @property
    def _columns(self) -> list[Written]:
        return [as_sql for _, as_sql in self._written]

    def _suppressed_by_rows(self, context: Context) -> exp.Select:
        """The rows of a class are counted beside each of them."""
        tables = {each: self._names.free(each) for each in ("generalized", "counted")}
        columns = {"people": unlike("people", self._shown_names)}
        rows, template = "generalized", "rows"
        if self._has_rows_alike():
            tables |= {each: self._names.free(each) for each in ("alike", "sized")}
            taken = [*self._shown_names, columns["people"]]
            columns |= {each: unlike(each, taken) for each in ("n_rows", "place")}
            context["alike"] = self._alike(tables["generalized"])
            rows, template = "alike", "alike"
        context["counted_rows"] = f"release/counted_{template}.sql"
        context["class"] = self._class(tables[rows])
        return self._suppressed("rows", context, tables, columns)

    def _has_rows_alike(self) -> bool:
        """Whether rows that are released alike may be counted together and repeated.

        No other database repeats rows as DuckDB does, a view must count in a window, and where
        rows differ by a pseudonym it would only take time.
        """
        recipe = self._recipe
        if self._is_guarded or recipe.standard or recipe.marker is not None:
            return False
        others = [each for each in recipe.items if not isinstance(each, Generalized)]
        return all(isinstance(each, Verbatim) and is_spelled_once(each.type) for each in others)

    def _alike(self, rows: str) -> dict[str, exp.Expr]:
        """The columns whose equal values make rows alike: texts are compared exactly."""
        found = dict(class_values(self._recipe, rows))
        for item in self._recipe.items:
            if isinstance(item, Verbatim):
                value = exp.column(item.name, table=rows, quoted=True)
                found[item.name] = exact(value) if is_text_once_released(item.type) else value
        return {name: found[name] for name in self._recipe.released_names}

    def _suppressed_by_classes(self, context: Context, lists: list[Mapping]) -> exp.Select:
        """People and models take classes of their own, which the rows are joined with.

        What the population reads in addition is added to the lists.
        """
        recipe = self._recipe
        tables = {"generalized": self._names.free("generalized")}
        context["class_columns"] = _class_columns(recipe)
        if recipe.models:
            found = self._unsafe(tables["generalized"], lists)
            context |= found.context() | {"unsafe_classes": "release/unsafe_classes.sql"}
            tables |= found.tables
            columns = found.columns
            context["class_order"] = self._class()
        else:
            tables["unsafe_classes"] = self._names.free("unsafe_classes")
            columns = {"is_unsafe": unlike("is_unsafe", recipe.class_names)}
            assert self._subject is not None
            context["people"] = people(exp.column(self._subject, quoted=True))
            context["unsafe_classes"] = "release/small_classes.sql"
        rows, unsafe = tables["generalized"], tables["unsafe_classes"]
        context["in_unsafe_class"] = in_class(recipe, rows, unsafe)
        if self._is_guarded:
            tables["counted"] = self._names.free("counted")
            columns["unsafe_rows"] = unlike("unsafe_rows", self._shown_names)
            context["class"] = self._class(rows)
        return self._suppressed("classes", context, tables, columns)

    def _unsafe(self, rows: str, lists: list[Mapping]) -> UnsafeClasses:
        recipe, population = self._recipe, None
        if recipe.counts_population:
            columns = [(i, as_sql) for i, as_sql in self._written if isinstance(i, Generalized)]
            population, read = population_rows(recipe, columns)
            lists += read
        is_whole = not self._only_covered
        names, subject, carried = self._names, self._subject, self._sensitive
        return UnsafeClasses(recipe, names, rows, subject, carried, is_whole, population)

    def _suppressed(
        self, by: str, context: Context, tables: dict[str, str], columns: dict[str, str]
    ) -> exp.Select:
        """Rows of classes that fall short are left out or marked."""
        recipe = self._recipe
        how = "left_out"
        if self._is_guarded:
            how = "guarded"
        elif recipe.marker is not None:
            how = "marked"
        context |= {
            "names": self._shown_names,
            "quasi": recipe.class_names,
            "marker": recipe.marker,
            "k": recipe.k,
        }
        template = f"release/{how}_by_{by}.sql"
        return query(template, tables=tables, columns=columns, **context)

    def _class(self, rows: str | None = None) -> list[exp.Expr]:
        """The values that rows of one class share."""
        return [value for _, value in class_values(self._recipe, rows)]

    @property
    def _shown_names(self) -> list[str]:
        subject = [self._subject] if self._keep_subject and self._subject is not None else []
        return [*self._recipe.released_names, *subject]

    def _order(self) -> list[exp.Expr]:
        if self._recipe.row_order is RowOrder.SHUFFLED:
            return [exp.Rand()]
        names = self._recipe.released_names
        texts = {each.name for each in self._recipe.items if _is_unordered(each)}
        return [
            exp.cast(exp.column(name, quoted=True), "text") if name in texts else number
            for name, number in zip(names, ordinals(names), strict=True)
        ]

    def uncovered(self, name: str) -> exp.Query:
        (as_sql,) = (
            as_sql
            for item, as_sql in self._written
            if isinstance(item, Generalized) and item.name == name
        )
        covered = _covered(as_sql)
        context, lists = read_from(self._boxed(), self._columns, [covered])
        select = query(
            "release/uncovered_values.sql",
            column=cell(name),
            covered=covered,
            most=MOST_LISTED,
            **context,
        )
        return with_lists(select, lists, self._steps)

    def _boxed(self) -> exp.Expr:
        """The source; if rows may lie outside the box of their region, with these regions."""
        relation = self._recipe.source
        if self._tree is not None and self._tree.tree.has_boxes:
            self._steps, relation = self._tree.steps(relation)
        return relation

    def counts(self) -> exp.Query:
        """Counts the source, and by column what belongs to no group."""
        covered = [
            (item.name, _covered(as_sql))
            for item, as_sql in self._written
            if isinstance(item, Generalized)
        ]
        names, subject = [name for name, _ in covered], self._recipe.subject
        conditions = [condition for _, condition in covered]
        context, lists = read_from(self._boxed(), self._columns, conditions)
        select = query(
            "release/source_counts.sql",
            columns={each: unlike(each, names) for each in ("n_rows", "n_people")},
            people=people(None if subject is None else cell(subject)),
            generalized=covered,
            **context,
        )
        return with_lists(select, lists, self._steps)


def _is_unordered(item: Item) -> bool:
    """Whether the values of a column have no order that every database knows."""
    return isinstance(item, Verbatim) and not item.ordered


def _covered(column: Written) -> exp.Expr:
    """Whether the value of a column belongs to a group; NULL counts as no."""
    return exp.true() if column.covered is None else column.covered


def _class_columns(recipe: Order) -> list[exp.Expr]:
    """The columns whose equal values make a class, as a GROUP BY by number must read them."""
    return [
        value.as_(name, quoted=True) if isinstance(value, exp.Collate) else value
        for name, value in class_values(recipe)
    ]


DIALECTS = tuple(sorted(d.value for d in sqlglot.Dialects if d.value))
"""The dialects that SQL can be printed in."""


def release_text(recipe: Order, dialect: str = NATIVE, *, guarded: bool = False) -> str:
    """The SELECT of a release with its header, in a dialect; it ends with a newline."""
    recipe = with_named_lists(replace(recipe, standard=dialect != NATIVE), guarded=guarded)
    return text_of(compile_release(recipe, guarded=guarded).select, recipe, dialect)


def text_of(select: exp.Query, recipe: Order, dialect: str) -> str:
    """A SELECT that is compiled already, with the header of its order."""
    header = [*recipe.header, *(_keys(recipe, dialect) if recipe.header else ())]
    lines = [f"-- {' '.join(line.split())}" for line in header]
    return "\n".join([*lines, statement_text(select, dialect) + ";\n"])


def _keys(recipe: Order, dialect: str) -> list[str]:
    """Whose keys the parameters of the statement are."""
    items = [item for item in recipe.items if isinstance(item, Pseudonym)]
    select = exp.select(*(exp.Placeholder(this=item.key) for item in items))
    shown = _adapted(select, dialect).expressions
    return [
        f"{parameter.sql(dialect)} is the key of the pseudonyms in {item.name!r}, not written here"
        for item, parameter in zip(items, shown, strict=True)
    ]


def statement_text(statement: exp.Expr, dialect: str) -> str:
    """A statement over several lines, every identifier quoted."""
    if dialect not in DIALECTS:
        raise CompileError(f"there is no dialect {dialect!r}; sqlanon writes {', '.join(DIALECTS)}")
    try:
        return _adapted(statement, dialect).sql(
            dialect, pretty=True, identify=True, unsupported_level=sqlglot.ErrorLevel.RAISE
        )
    except sqlglot.UnsupportedError as error:
        raise CompileError(f"the release cannot be written in {dialect}: {error}") from error


def _adapted(statement: exp.Expr, dialect: str) -> exp.Expr:
    """In the dialect as far as it has collations, and with its parameters."""
    if dialect == NATIVE:
        return statement
    if any(join.method == "ASOF" for join in statement.find_all(exp.Join)):
        raise CompileError(f"an ASOF join cannot be written in {dialect}; compile it as standard")
    return in_dialect(statement, dialect, exactly=False)
