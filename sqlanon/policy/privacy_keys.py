"""What every class of a release must satisfy, and what people outside it are counted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import create_model

from sqlanon.keys import Section, Whole, Words, about
from sqlanon.privacy import ForColumns, Model, keys, listed


class HomogeneitySection(ForColumns):
    """Sensitive columns that are released without a model for them."""

    accept: Annotated[Words, about("Why that is accepted; stands in the certificate.")]


class PrivacySection(Section):
    """What every class of the released table must satisfy."""

    k: Annotated[Whole, about("The least number of people in a class.", ge=1)]

    if TYPE_CHECKING:  # a key of `privacy_section`, after those of the models
        homogeneity: HomogeneitySection | None

    @property
    def models(self) -> dict[str, Any]:
        """What is given of the keys of privacy models."""
        return {key: getattr(self, key) for key in keys()}

    def of_columns(self) -> dict[str, Sequence[ForColumns]]:
        """The sections for sensitive columns, by key."""
        found: dict[str, Sequence[ForColumns]] = {
            key: listed(getattr(self, key))
            for key, model in keys().items()
            if not model.needs_population
        }
        return found | {"homogeneity": listed(self.homogeneity)}


def privacy_section() -> type[PrivacySection]:
    """The section with the keys of all models that are registered now."""
    return _privacy_section(tuple(keys().values()))


@cache
def _privacy_section(models: tuple[type[Model], ...]) -> type[PrivacySection]:
    fields: dict[str, Any] = {}
    for model in models:
        kind: Any = model.section
        several: Any = kind if model.needs_population else kind | list[kind]
        fields[model.key] = (Annotated[several | None, about(model.summary)], None)
    why = about("Why sensitive columns without a model may be released.")
    fields["homogeneity"] = (Annotated[HomogeneitySection | None, why], None)
    return create_model(
        "PrivacySection", __base__=PrivacySection, __doc__=PrivacySection.__doc__, **fields
    )
