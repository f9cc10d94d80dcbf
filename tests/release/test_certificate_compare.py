"""Whether a table is still the certified one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from certified import (
    SIZES,
    census,
    certificate_of,
    column,
    generalized,
    hospital,
    sizes,
    suppression,
)

from sqlanon.audit.audit_result import Audit, spread_of_rows
from sqlanon.audit.auditor import audit
from sqlanon.audit.table_hash import table_hash
from sqlanon.engines.registry import open_source
from sqlanon.release.certificate import Certificate, Treatment
from sqlanon.release.certificate_comparison import differences


def compared(found: Audit | None = None, **given: object) -> list[str]:
    facts = census()
    arguments = {
        "audit": found or facts.audit,
        "table_hash": facts.table_hash,
        "columns": [column.name for column in facts.columns],
    }
    return differences(certificate_of(facts), **{**arguments, **given})  # type: ignore[arg-type]


def with_sizes(numbers: dict[int, int]) -> Audit:
    return replace(census().audit, by_rows=spread_of_rows(sizes(numbers), 0.2))


def test_nothing_differs() -> None:
    assert compared() == []


@pytest.mark.parametrize("shareable", [False, True])
def test_both_forms_serve(shareable: bool, tmp_path: Path) -> None:
    facts = census()
    certificate_of(facts).write(tmp_path / "c.json", shareable=shareable)
    certificate = Certificate.read(tmp_path / "c.json")
    columns = list(certificate.columns)
    assert differences(certificate, facts.audit, facts.table_hash, columns) == []
    assert len(differences(certificate, facts.audit, "00", columns)) == 1


def test_other_contents() -> None:
    (sentence,) = compared(table_hash="00ff")
    assert sentence == (
        "The contents are not those that were certified on 2026-11-16T11:04:14Z although "
        "everything that was counted is the same: the hash of the table is 00ff, certified is "
        f"{'3b1e4f7a' * 8}."
    )


def test_a_row_is_missing_from_the_smallest_class() -> None:
    numbers = dict(SIZES)
    del numbers[5]
    assert compared(with_sizes({4: 1, **numbers}), table_hash="00ff") == [
        "The table has 30,153 rows, 1 fewer than the 30,154 certified.",
        "k, counted in rows, is 4; certified is 5.",
        "The table no longer holds what the policy requires: k is 4, required are 5.",
        "The contents are not those that were certified on 2026-11-16T11:04:14Z: the hash of the "
        f"table is 00ff, certified is {'3b1e4f7a' * 8}.",
    ]


def test_rows_have_come() -> None:
    assert compared(with_sizes({**SIZES, 6: 2})) == [
        "The table has 30,166 rows, 12 more than the 30,154 certified.",
        "The table has 63 classes, 2 more than the 61 certified.",
    ]


def test_other_columns() -> None:
    names = [column.name for column in census().columns]
    assert compared(columns=[*names[1:], "name"], audit=None, table_hash=None) == [
        "The table lacks the column 'age', which the certificate lists.",
        "The table has the column 'name', which the certificate does not list: nothing is "
        "certified about what others learn from it.",
    ]
    (sentence,) = compared(columns=names[::-1])
    assert sentence.startswith("The columns are in another order: salary-class, native-country,")


def test_nothing_could_be_counted() -> None:
    certificate = certificate_of(census())
    assert differences(certificate, None, None, certificate.columns) == [
        "The classes could not be counted, so nothing is known of k."
    ]


def test_other_quasi_identifiers_are_not_compared() -> None:
    (sentence,) = compared(replace(census().audit, quasi=("age", "sex")))
    assert sentence.startswith("The classes were counted over age, sex, but the certificate speaks")


def test_rows_are_compared_with_rows_where_the_subject_is_not_released() -> None:
    facts = hospital()
    certificate = certificate_of(facts)
    columns = certificate.columns
    by_rows = replace(facts.audit, subject=None, by_people=None)
    assert differences(certificate, by_rows, facts.table_hash, columns) == []
    assert differences(certificate, facts.audit, facts.table_hash, columns) == []
    assert facts.audit.by_people is not None
    fewer = replace(facts.audit, by_people=replace(facts.audit.by_people, total=28))
    assert differences(certificate, fewer, facts.table_hash, columns) == [
        "The table has 28 people, 1 fewer than the 29 certified."
    ]


def test_a_real_table_before_and_after_a_change() -> None:
    data = pd.DataFrame({"sex": ["f", "f", "m", "m"], "disease": ["a", "b", "c", "d"]})
    before, changed = measured(data), measured(data.replace("d", "e"))
    facts = replace(
        census(),
        source_rows=4,
        source_people=4,
        required_k=2,
        columns=(
            generalized("sex", ("f", "m"), 2, 0.0),
            column("disease", "sensitive", Treatment.VERBATIM, ("disease",)),
        ),
        audit=before[0],
        suppression=suppression(4),
        scores={},
        table_hash=before[1],
    )
    certificate = certificate_of(facts)
    assert differences(certificate, *before, list(data)) == []
    assert differences(certificate, *measured(data[::-1]), list(data)) == [], "order is no matter"
    (sentence,) = differences(certificate, *changed, list(data))
    assert "although everything that was counted is the same" in sentence
    fewest, entropy, recursive, share, contents = differences(
        certificate, *measured(data.replace("d", "c")), list(data)
    )
    assert fewest == "fewest_values of 'disease' is 1 in the table; certified is 2."
    assert share == "largest_share of 'disease' is 1.0 in the table; certified is 0.5."
    assert entropy == "entropy_l of 'disease' is 1.0 in the table; certified is 2.0."
    assert recursive.startswith("recursive_c of 'disease' is without a bound in the table")
    assert "although" not in contents


def measured(data: pd.DataFrame) -> tuple[Audit, str]:
    source = open_source(data=data)
    try:
        found = audit(source, ["sex"], sensitive=["disease"])
        return found, table_hash(source, list(data))
    finally:
        source.engine.close()
