"""From a scheme to a published release: compile, stage, verify, certify, swap."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlanon.release.compile import compile_classes, compile_release, compile_uncovered
from sqlanon.release.dialects import DIALECTS, release_text, statement_text, text_of
from sqlanon.release.export import unheld_types, written_file
from sqlanon.release.generalize import value_literal
from sqlanon.release.measurement import (
    compile_measurement,
    measured_order,
    measurement_text,
)
from sqlanon.release.order import (
    Item,
    Order,
    Pseudonym,
    Verbatim,
    falls_short,
    header_of,
    homogeneity_problem,
    item_of,
    k_of_release,
    order_of,
    portable_source,
    refuse_homogeneity,
    refuse_smaller_k,
    shown,
)
from sqlanon.release.parts import equalities
from sqlanon.release.preview import (
    cautions,
    check_types,
    check_values,
    holds_with_marked,
    refuse_uncovered,
)
from sqlanon.release.released_places import address_to_rewrite, released_before, telling_of_release
from sqlanon.release.released_values import check_labels, is_text, keeps_values
from sqlanon.release.rows import compile_population, population_subject

if TYPE_CHECKING:
    from sqlanon.release.certificate.certificate import Certificate
    from sqlanon.release.certificate.comparison import caveats, differences, recountable
    from sqlanon.release.certificate.document import Treatment
    from sqlanon.release.pending import (
        Settled,
        UnfinishedCertificate,
        UnreadableCertificate,
        file_holds,
        remove_incomplete,
        remove_leftovers,
        table_holds,
        unfinished,
    )
    from sqlanon.release.pipeline import (
        Release,
        certificate_folder,
        closed,
        opened_order,
        publish,
        statements,
    )
    from sqlanon.release.stage import Stages
    from sqlanon.release.target import foreseen, type_changes
    from sqlanon.release.verification import Verification, verification_query, verified


_LATER = {
    "Certificate": "certificate.certificate",
    "Treatment": "certificate.document",
    "caveats": "certificate.comparison",
    "differences": "certificate.comparison",
    "recountable": "certificate.comparison",
    "remove_leftovers": "pending",
    "Settled": "pending",
    "UnfinishedCertificate": "pending",
    "UnreadableCertificate": "pending",
    "file_holds": "pending",
    "remove_incomplete": "pending",
    "table_holds": "pending",
    "unfinished": "pending",
    "Release": "pipeline",
    "certificate_folder": "pipeline",
    "closed": "pipeline",
    "opened_order": "pipeline",
    "publish": "pipeline",
    "statements": "pipeline",
    "Stages": "stage",
    "foreseen": "target",
    "type_changes": "target",
    "Verification": "verification",
    "verification_query": "verification",
    "verified": "verification",
}


def __getattr__(name: str) -> Any:
    """Imports what only publishing and checking need when they ask for it: a search does not."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
