"""Which settings a search has, and what a method allows that others do not.

The settings classes of the searches say the same to Python; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from sqlanon.model import LossName
from sqlanon.policy.fields import Share, Whole

Judged = TypeVar("Judged")

SETTINGS: Mapping[str, tuple[str, ...]] = {
    "auto": ("cuts", "effort", "evaluations", "exact", "rounds"),
    "nsga2": ("crossover", "cuts", "evaluations", "mutation", "population"),
    "reference-direction": (
        "crossover",
        "cuts",
        "evaluations",
        "mutation",
        "points",
        "population",
        "start",
    ),
    "genitor": (
        "allow_duplicates",
        "bias",
        "brood",
        "crossover",
        "cuts",
        "evaluations",
        "mutation",
        "population",
    ),
    "poka": ("depth", "past_plateaus"),
    "front": ("given_k",),
    "exhaustive": ("given_k",),
    "optimal": (),
}
"""What a policy may set for each method, beside what is for all of them."""

SETTING_NAMES = frozenset(name for names in SETTINGS.values() for name in names)

MINIMIZE_ACH = frozenset({"auto", "nsga2", "reference-direction"})
"""The loss of these is that of the preference."""

ALLOWED = "allowed_by_method"
"""The kind of error whose context names what is allowed, instead of the schema."""


class _Own(NamedTuple):
    """What one method takes where another one takes something else."""

    values: TypeAdapter[Any]
    words: str


_CHANCE = _Own(TypeAdapter(Share), "a number from 0 to 1")
_OWN = {
    ("nsga2", "crossover"): _CHANCE,
    ("reference-direction", "crossover"): _CHANCE,
    ("genitor", "crossover"): _Own(
        TypeAdapter(Literal["new", "new_strangers", "trad"]), "'new', 'new_strangers' or 'trad'"
    ),
    ("genitor", "evaluations"): _Own(
        TypeAdapter(Annotated[Whole, Field(ge=2, le=10**12)]),
        "a whole number from 2 to 1,000,000,000,000",
    ),
}


def judged_by_method(given: Any, judge: Callable[[Any], Judged]) -> Judged:
    """What `judge` makes of a search section, after what its method says of its keys.

    Raises ValidationError with all mistakes of both kinds. Keys that the method has a say on
    are judged by that alone: no range is told for a setting that it does not have.
    """
    method = method_of(given)
    if method is None:
        return judge(given)
    wrong = list(_mistakes(method, given))
    settled = {each["loc"][0] for each in wrong}
    try:
        section = judge({key: value for key, value in given.items() if key not in settled})
        if not wrong:
            return section
    except ValidationError as error:
        wrong += [
            InitErrorDetails(
                type=each["type"],
                loc=each["loc"],
                input=each["input"],
                ctx=each.get("ctx", {}),
            )
            for each in error.errors(include_url=False)
        ]
    order = list(given)
    wrong.sort(key=lambda each: _place(order, each["loc"]))
    raise ValidationError.from_exception_data("search", wrong)


def method_of(given: Any) -> str | None:
    """The method of a section; None where that is not known."""
    if not isinstance(given, Mapping):
        return None
    if "method" not in given and get_close_matches("method", map(str, given)):
        return None  # spelled wrong, so that the default is not what is meant
    method = given.get("method", "auto")
    return method if isinstance(method, str) and method in SETTINGS else None


def _place(order: list[Any], loc: tuple[Any, ...]) -> int:
    """Mistakes come in the order of the file."""
    return order.index(loc[0]) if loc and loc[0] in order else len(order)


def _mistakes(method: str, given: Mapping[Any, Any]) -> Iterator[InitErrorDetails]:
    has = SETTINGS[method]
    for key, value in given.items():
        if value is None:
            continue  # the default
        if key in SETTING_NAMES and key not in has:
            words = f"is not a setting of {method}; it has: {', '.join(has) or 'none'}"
            yield _said(key, value, words)
        own = _OWN.get((method, key))
        if own is not None and not _takes(own.values, value):
            yield InitErrorDetails(
                type=PydanticCustomError(ALLOWED, "expected {allowed}", {"allowed": own.words}),
                loc=(key,),
                input=value,
            )
    loss = given.get("loss")
    other = isinstance(loss, str) and loss in set(LossName) - {LossName.NWP}
    if method in MINIMIZE_ACH and other:
        yield _said(
            "loss",
            loss,
            f"{method} minimizes ach, which weighs the loss of the preference against its bias, "
            f"not {loss}; name it as preference.loss, or choose a method that minimizes a loss",
        )


def _said(key: str, value: Any, words: str) -> InitErrorDetails:
    return InitErrorDetails(
        type="value_error", loc=(key,), input=value, ctx={"error": ValueError(words)}
    )


def _takes(values: TypeAdapter[Any], value: Any) -> bool:
    try:
        values.validate_python(value)
    except ValidationError:
        return False
    return True
