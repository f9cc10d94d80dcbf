"""From a scheme to a published release: compile, stage, verify, certify, swap.

What a search needs too is named here. Publishing is in `pipeline`, what a killed run left in
`pending`, certificates are in `certificate`, and what a recount is compared with is in
`certificate_comparison`: a search imports none of them.
"""

from __future__ import annotations

from sqlanon.release.compile import (
    DIALECTS,
    compile_classes,
    compile_release,
    release_text,
    statement_text,
    text_of,
)
from sqlanon.release.export import written_file
from sqlanon.release.generalize import is_text, keeps_values, value_literal
from sqlanon.release.measured_on_source import compile_measurement, measured_order, measurement_text
from sqlanon.release.order import (
    Item,
    Order,
    Verbatim,
    falls_short,
    header_of,
    item_of,
    k_of_release,
    order_of,
    portable_source,
    refuse_with_tree,
    shown,
)
from sqlanon.release.plan import released_before, telling_of_release
from sqlanon.release.preview import (
    cautions,
    check_types,
    check_values,
    holds_with_marked,
    refuse_uncovered,
)
from sqlanon.release.rows import equalities
