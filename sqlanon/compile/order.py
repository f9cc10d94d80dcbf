"""The earth mover's distance by the order of values, as parts of a statement.

At each of the source's values a class has held C of its n people up to there, and the source S
of its N. So C·N − n·S, in parts of n·N, goes on to the next value, and the distance is the sum
of these amounts without their signs. From one value of a class to the next C stays while S grows:
what goes on there adds up to C·N times the places in between, less n times the sum of S, which is
a difference of two prefix sums (`area`). Its sign changes at most once, where the source has held
the share of the class (`turns`). A class is looked at where it has a value or a turn, and no class
needs all values.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from sqlanon.compile.arithmetic import at_least, in_order, ratio, same_value, times
from sqlanon.compile.parts import cte, named, of, ordinals
from sqlanon.compile.values import is_not_null


def order_parts(
    counts: str, source: str, number: str, is_text: bool, name: Callable[[str], str]
) -> list[exp.CTE]:
    """The parts, the last with the distance of each class; `name` makes names for them."""
    places, line, held = name("places"), name("line"), name("held")
    marks, turns, stops, steps = name("marks"), name("turns"), name("stops"), name("steps")
    return [
        cte(places, _places(source)),
        cte(line, _line(places)),
        cte(held, _held(counts, line, number, is_text)),
        cte(marks, _marks(line, held, number)),
        cte(turns, _turns(marks, number)),
        cte(stops, _stops(held, turns, number)),
        cte(steps, _steps(stops, number)),
        cte(name("order"), _distance(steps, number)),
    ]


def _places(source: str) -> exp.Select:
    """The source's values in order, each with the people who come before it."""
    value, people = of(source, "value"), of(source, "people")
    up_to = exp.Window(this=exp.Sum(this=people), order=in_order(value))
    place = exp.Window(this=exp.RowNumber(), order=in_order(value.copy()))
    return exp.select(
        value.copy(),
        of(source, "total"),
        _called(place, "place"),
        _called(exp.Sub(this=up_to, expression=people.copy()), "before"),
    ).from_(named(source))


def _line(places: str) -> exp.Select:
    """With the sum of S over all places before."""
    area = exp.Window(this=exp.Sum(this=of(places, "before")), order=_by(of(places, "place")))
    columns = [of(places, each) for each in ("value", "total", "place", "before")]
    return exp.select(*columns, _called(area, "area")).from_(named(places))


def _held(counts: str, line: str, number: str, is_text: bool) -> exp.Select:
    """The values of each class at their places.

    `mark` is how many people of the source have the share that the class holds up to there.
    """
    people, owner = of(counts, "people"), of(counts, number)
    held = _over(exp.Sum(this=people), owner, of(line, "place"))
    mark = exp.IntDiv(
        this=times(held, of(line, "total")), expression=_over(exp.Sum(this=people.copy()), owner)
    )
    columns = [of(line, each) for each in ("total", "place", "area")]
    select = exp.select(owner.copy(), *columns, people.copy(), _called(mark, "mark"))
    return select.from_(named(counts)).join(named(line), on=same_value(counts, line, is_text))


def _marks(line: str, held: str, number: str) -> exp.Query:
    """Both on one scale of people: where the source's values begin, and the shares of classes."""
    values = exp.select(
        _called(exp.null(), number),
        of(line, "total"),
        _called(of(line, "before"), "mark"),
        of(line, "place"),
        of(line, "area"),
    )
    classes = exp.select(
        of(held, number), of(held, "total"), of(held, "mark"), exp.null(), exp.null()
    )
    return _both(values.from_(named(line)), classes.from_(named(held)))


def _turns(marks: str, number: str) -> exp.Select:
    """For every mark the last value that begins there or before."""
    last = [
        _called(_over(exp.Max(this=of(marks, each)), None, of(marks, "mark")), each)
        for each in ("place", "area")
    ]
    return exp.select(of(marks, number), of(marks, "total"), *last).from_(named(marks))


def _stops(held: str, turns: str, number: str) -> exp.Query:
    """Where each class is looked at; the last of its turns is the last place of all."""
    keys = (number, "total", "place", "area")
    own = exp.select(*[of(held, each) for each in (*keys, "people")]).from_(named(held))
    none = exp.Literal.number(0)
    further = exp.select(*[of(turns, each) for each in keys], none).from_(named(turns))
    return _both(own, further.where(is_not_null(of(turns, number))))


def _steps(stops: str, number: str) -> exp.Select:
    """One row a place: what the class has held up to it, and which place comes next."""
    keys = [of(stops, each) for each in (number, "total", "place", "area")]
    owner, place = of(stops, number), of(stops, "place")
    here = exp.Sum(this=exp.Sum(this=of(stops, "people")))
    following = [
        _called(_over(exp.Lead(this=of(stops, each)), owner, place), f"next_{each}")
        for each in ("place", "area")
    ]
    select = exp.select(
        *keys,
        _called(_over(here.copy(), owner), "class_total"),
        _called(_over(here, owner, place), "held"),
        *following,
    )
    return select.from_(named(stops)).group_by(*ordinals(keys))


def _distance(steps: str, number: str) -> exp.Select:
    """What goes on from place to place; up to the first of them a class has held nobody."""
    n, total = of(steps, "class_total"), of(steps, "total")
    length, area = (
        exp.paren(exp.Sub(this=of(steps, f"next_{each}"), expression=of(steps, each)), copy=False)
        for each in ("place", "area")
    )
    moved = exp.Abs(
        this=exp.Sub(this=times(of(steps, "held"), total, length), expression=times(n, area))
    )
    at_first = exp.Min(this=times(n.copy(), of(steps, "area")))
    most = exp.Sub(this=exp.Max(this=of(steps, "place")), expression=exp.Literal.number(1))
    whole = times(exp.Max(this=times(n.copy(), total.copy())), at_least(most, 1))
    # A class with nothing but the last value is looked at in one place.
    onwards = exp.Coalesce(this=exp.Sum(this=moved), expressions=[exp.Literal.number(0)])
    far = ratio(exp.Add(this=at_first, expression=onwards), whole)
    select = exp.select(of(steps, number), _called(far, "distance"))
    return select.from_(named(steps)).group_by(*ordinals(range(1)))


def _over(function: exp.Expr, owner: exp.Expr | None, order: exp.Expr | None = None) -> exp.Window:
    """A function over the rows of one owner: all, or up to here with those of the same place."""
    return exp.Window(
        this=function,
        partition_by=[] if owner is None else [owner.copy()],
        order=None if order is None else _by(order.copy()),
    )


def _by(value: exp.Expr) -> exp.Order:
    """Ascending, whatever the session takes for the usual order."""
    return exp.Order(expressions=[exp.Ordered(this=value, desc=False)])


def _both(one: exp.Select, other: exp.Select) -> exp.Union:
    return exp.Union(this=one, expression=other, distinct=False)


def _called(value: exp.Expr, name: str) -> exp.Expr:
    return value.as_(name, quoted=True)
