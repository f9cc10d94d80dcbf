"""What may be suppressed, and how solutions are searched.

The keys of a search are those of all methods together, and each method has a say on its own:
it declares them with its settings (see sqlanon/search/method.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import (
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from sqlanon.arguments import optional, text
from sqlanon.domain import Labels, Recoding, SuppressedRows
from sqlanon.errors import ArgumentError, PolicyError
from sqlanon.keys import Number, Section, Share, Whole, Words, about
from sqlanon.metrics import LossKey, losses
from sqlanon.search import MANY, METHODS, Method, TreeSettings

Node = dict[str, Any]

ALLOWED = "allowed_by_method"
"""The kind of error whose context has the schema of the key for its method."""


class SuppressionSection(Section):
    """How many rows may be suppressed instead of generalizing everything more, and how."""

    limit: Annotated[
        Share, about("The share of all rows that may be suppressed; needs `privacy.k`.")
    ] = 0.0
    rows: Annotated[
        SuppressedRows,
        about(
            "Whether suppressed rows are left out, or released with the marker in every "
            "quasi-identifier."
        ),
    ] = SuppressedRows.LEAVE_OUT
    marker: Annotated[
        Words, about("What the quasi-identifiers of marked rows hold; goes with `rows: mark`.")
    ] = "(suppressed)"

    @model_validator(mode="after")
    def _consistent(self) -> SuppressionSection:
        if "marker" in self.model_fields_set and self.rows is not SuppressedRows.MARK:
            raise ValueError(".marker: goes with rows: mark; suppressed rows are left out")
        return self


class SearchSection(Section):
    """How solutions are searched. Settings that belong to another method are refused."""

    # Fields are for all methods; the settings of one are extra keys.
    model_config = ConfigDict(extra="allow", frozen=True)

    recoding: Annotated[
        Recoding,
        about(
            "Whether a column is divided alike in the whole table, or by a tree of cuts that each "
            "hold for a part of it."
        ),
    ] = Recoding.GLOBAL
    labels: Annotated[
        Labels,
        about(
            "What is released of a region of a cut tree: all of it, or the box around its rows, "
            "snapped to lines that are known without them, or tight."
        ),
    ] = Labels.REGION
    accept: Annotated[
        Words | None,
        about("Why tight labels may show the lowest and the highest value of every class."),
    ] = None
    method: Annotated[str, about("The search.")] = "auto"
    loss: Annotated[LossKey | None, about("The loss that is minimized.")] = None
    seed: Annotated[
        Whole, about("Where random numbers start; the same seed gives the same result.", ge=0)
    ] = 1
    seconds: Annotated[
        Annotated[Number, Field(gt=0)] | None,
        about("Ends the search with the best so far.", "a number above 0"),
    ] = None
    patience: Annotated[
        Annotated[Whole, Field(ge=1, le=MANY)] | None,
        about("Ends the search after so many steps without a better solution."),
    ] = None

    @property
    def given(self) -> dict[str, Any]:
        """The settings of its method that the policy gives."""
        return dict(self.model_extra or {})

    def for_trees(self, effort: str | None = None) -> TreeSettings:
        """The settings of the search for a cut tree; `effort` replaces that of the policy."""
        try:
            return TreeSettings(**self.given | ({} if effort is None else {"effort": effort}))
        except ValidationError:
            raise ArgumentError(
                f"`effort` is {effort!r}; recoding multidimensional has fast, default and thorough"
            ) from None

    def for_method(self, name: str | None, effort: str | None = None) -> tuple[Method, Any]:
        """A method, its own or the named one, and the settings to run it with.

        What a policy sets is for its own method; another one runs with its defaults. `effort`
        replaces that of the policy.
        """
        wanted = optional(text, "method", name, "the name of a method") or self.method
        if wanted not in METHODS:
            raise ArgumentError(f"there is no `method` {wanted!r}; there are {', '.join(METHODS)}")
        method = METHODS[wanted]
        if method.interactive:
            raise PolicyError(f"{wanted} asks at every step; use walk(), or `sqlanon search`")
        if effort is not None and "effort" not in method.keys:
            have = ", ".join(name for name, each in METHODS.items() if "effort" in each.keys)
            raise ArgumentError(f"`effort` is a setting of {have}; {wanted} has none")
        given = self.given if wanted == self.method else {}
        settings = method.configured(given if effort is None else given | {"effort": effort})
        return method.ruled_by(settings), settings

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_method(
        cls, given: Any, build: ModelWrapValidatorHandler[SearchSection]
    ) -> SearchSection:
        """Builds the section, or raises one ValidationError with all mistakes in it.

        What its method has not is not judged by its range.
        """
        if not isinstance(given, Mapping):
            return build(given)
        common = {
            key: value
            for key, value in given.items()
            if key in cls.model_fields or not isinstance(key, str)
        }
        method = method_of(given)
        others = {k: v for k, v in given.items() if k not in common}
        if given.get("recoding") == Recoding.MULTIDIMENSIONAL:
            own = {key: others.pop(key) for key in _SETTINGS_OF_TREES if key in others}
            settings, wrong = _judged(others, method)
            settings |= _judged_of_trees(own, wrong)
            wrong += _mistakes_with_a_tree(given)
        else:
            settings, wrong = _judged(others, method)
            wrong += _mistakes_in_common(common, method)
            wrong += _mistakes_without_a_tree(given)
        settled = {each["loc"][0] for each in wrong}
        try:
            section = build({k: v for k, v in common.items() if k not in settled} | settings)
            if not wrong:
                return section
        except ValidationError as error:
            wrong += map(_again, error.errors(include_url=False))
        order = list(given)  # mistakes come in the order of the file
        wrong.sort(key=lambda each: order.index(each["loc"][0]) if each["loc"][0] in order else -1)
        raise ValidationError.from_exception_data("search", wrong)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The fields, and the settings of all methods that are registered now."""
        schema = handler(core_schema)
        section = handler.resolve_ref_schema(schema)
        known = section["properties"]
        known["method"]["enum"] = list(METHODS)
        losing = [name for name, each in METHODS.items() if each.default_loss is not None]
        known["loss"]["description"] = f"The loss that is minimized ({', '.join(losing)})."
        nodes: dict[str, dict[str, Node]] = {}
        for name, each in METHODS.items():
            own = handler.resolve_ref_schema(handler(TypeAdapter(each.settings).core_schema))
            for key, node in own["properties"].items():
                nodes.setdefault(key, {})[name] = node
        own = handler.resolve_ref_schema(handler(TypeAdapter(TreeSettings).core_schema))
        for key, node in own["properties"].items():
            nodes.setdefault(key, {})[str(Recoding.MULTIDIMENSIONAL)] = node
        section["properties"] = known | {key: _merged(of) for key, of in nodes.items()}
        section["additionalProperties"] = False
        return schema


def method_of(given: Any) -> Method | None:
    """The method of a section; None where that is not known."""
    if not isinstance(given, Mapping):
        return None
    if "method" not in given and get_close_matches("method", map(str, given)):
        return None  # spelled wrong, so that the default is not what is meant
    method = given.get("method", "auto")
    return METHODS.get(method) if isinstance(method, str) else None


def valid_part(given: Any) -> tuple[SearchSection, set[str]]:
    """What is valid of a section, and its keys that are not, as `search.KEY`."""
    keys = given if isinstance(given, Mapping) else {}
    wrong: set[Any] = set()
    try:
        SearchSection.model_validate(keys)
    except ValidationError as error:
        wrong = {each["loc"][0] for each in error.errors(include_url=False)}
    if method_of(given) is None:  # what the keys mean depends on the method
        wrong |= SearchSection.model_fields.keys() | {k for m in METHODS.values() for k in m.keys}
    valid = {key: value for key, value in keys.items() if isinstance(key, str)}
    valid = {key: value for key, value in valid.items() if key not in wrong}
    return SearchSection.model_validate(valid), {f"search.{key}" for key in wrong}


def _judged(given: Mapping[str, Any], method: Method | None) -> tuple[Node, list[InitErrorDetails]]:
    """The valid ones of some settings, and what is wrong with the others."""
    valid: dict[str, Any] = {}
    wrong: list[InitErrorDetails] = []
    for key, value in given.items():
        having = [each for each in METHODS.values() if key in each.keys]
        if not having:
            wrong.append(InitErrorDetails(type="extra_forbidden", loc=(key,), input=value))
        elif value is None:
            continue  # the default
        elif method is not None and method not in having:
            has = ", ".join(method.keys) or "none"
            wrong.append(_said(key, value, f"is not a setting of {method.key}; it has: {has}"))
        else:
            try:
                valid[key] = _validated(having if method is None else [method], key, value)
            except ValidationError as error:
                nodes = {each.key: _own_node(each, key) for each in having}
                found = error.errors(include_url=False)
                differs = any(node != nodes[having[0].key] for node in nodes.values())
                if method is not None and differs and all(len(e["loc"]) == 1 for e in found):
                    context = {"node": nodes[method.key]}
                    kind = PydanticCustomError(ALLOWED, "not as its method has it", context)
                    wrong.append(InitErrorDetails(type=kind, loc=(key,), input=value))
                else:
                    wrong += map(_again, found)
    return valid, wrong


def _validated(methods: list[Method], key: str, value: Any) -> Any:
    """The value of a setting, as the first method takes it that does."""
    first, *others = methods
    try:
        return getattr(first.settings(**{key: value}), key)
    except ValidationError:
        if not others:
            raise
        return _validated(others, key, value)


def _mistakes_in_common(
    given: Mapping[Any, Any], method: Method | None
) -> Iterator[InitErrorDetails]:
    """What is wrong with a method, and with a loss for its method."""
    name, loss = given.get("method"), given.get("loss")
    if isinstance(name, str) and name not in METHODS:
        expected = {"expected": "a method"}
        yield InitErrorDetails(type="literal_error", loc=("method",), input=name, ctx=expected)
    if method is None or method.default_loss is not None:
        return
    if isinstance(loss, str) and loss in losses() and loss != "nwp":
        yield _said(
            "loss",
            loss,
            f"{method.key} minimizes ach, which weighs the loss of the preference against its "
            f"bias, not {loss}; name it as preference.loss, or choose a method that minimizes a "
            "loss",
        )


def _mistakes_without_a_tree(given: Mapping[Any, Any]) -> Iterator[InitErrorDetails]:
    for key in ("labels", "accept"):
        if given.get(key) is not None:
            yield _said(key, given[key], "goes with recoding multidimensional; leave it out")


_SETTINGS_OF_TREES = tuple(each.name for each in fields(TreeSettings))
_OF_TREES = ("recoding", "labels", "accept", "loss", "seed", "seconds", *_SETTINGS_OF_TREES)
_LOSSES_OF_TREES = ("nwp", "glm")


def _judged_of_trees(given: Mapping[str, Any], wrong: list[InitErrorDetails]) -> Node:
    """The valid settings of the search for a cut tree; what is wrong with others is added."""
    valid = {key: value for key, value in given.items() if value is not None}
    try:
        TreeSettings(**valid)
    except ValidationError as error:
        wrong += map(_again, error.errors(include_url=False))
        return {}
    return valid


def _mistakes_with_a_tree(given: Mapping[Any, Any]) -> Iterator[InitErrorDetails]:
    """What does not go with multidimensional recoding, which has one search."""
    loss = given.get("loss")
    known = {*SearchSection.model_fields, *(key for each in METHODS.values() for key in each.keys)}
    for key, value in given.items():
        if key in known and key not in _OF_TREES and value is not None:
            yield _said(key, value, "goes with recoding global; leave it out")
    if isinstance(loss, str) and loss in losses() and loss not in _LOSSES_OF_TREES:
        have = " or ".join(_LOSSES_OF_TREES)
        yield _said("loss", loss, f"is not a loss of recoding multidimensional; take {have}")
    is_tight = given.get("labels") == Labels.TIGHT
    if is_tight and given.get("accept") is None:
        yield _said(
            "labels",
            "tight",
            "shows the lowest and the highest value of every class, which are values of single "
            'people; say why that is accepted, with `accept: "reason"` beside it, or take snapped',
        )
    if given.get("accept") is not None and not is_tight:
        yield _said("accept", given["accept"], "goes with labels: tight; leave it out")


def _said(key: str, value: Any, words: str) -> InitErrorDetails:
    context = {"error": ValueError(words)}
    return InitErrorDetails(type="value_error", loc=(key,), input=value, ctx=context)


def _again(error: ErrorDetails) -> InitErrorDetails:
    """A mistake that pydantic found, to be raised together with others."""
    return InitErrorDetails(
        type=error["type"], loc=error["loc"], input=error["input"], ctx=error.get("ctx", {})
    )


def _own_node(method: Method, key: str) -> Node:
    """What the schema of a method says of a setting."""
    return _bare(TypeAdapter(method.settings).json_schema()["properties"][key])


def _bare(node: Node) -> Node:
    return {k: v for k, v in node.items() if k not in ("default", "title", "description")}


def _merged(nodes: Mapping[str, Node]) -> Node:
    """The node of a setting, from those of the methods that have it, by their names."""
    options: list[Node] = []
    words: dict[str, list[str]] = {}
    for name, node in nodes.items():
        words.setdefault(node["description"].removesuffix("."), []).append(name)
        bare = _bare(node)
        for option in bare["anyOf"] if bare.keys() == {"anyOf"} else [bare]:
            like = next((each for each in options if _but_range(each) == _but_range(option)), None)
            if like is None:
                options.append(dict(option))
            elif "minimum" in option:
                like["minimum"] = min(like["minimum"], option["minimum"])
    null = {"type": "null"}
    said = [f"{each} ({', '.join(names)})" for each, names in words.items()]
    said[1:] = [each[0].lower() + each[1:] for each in said[1:]]
    return {
        "anyOf": [*(each for each in options if each != null), null],
        "description": f"{', or '.join(said)}.",
    }


def _but_range(node: Node) -> Node:
    """A node without the least number, in which methods may differ."""
    return {key: value for key, value in node.items() if key != "minimum"}
