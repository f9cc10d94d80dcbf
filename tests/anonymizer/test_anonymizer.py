"""A policy applied to its table from Python: measuring, printing, and what a file may name."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from small_table import CSV, POLICY, SCHEME, SCORES, changed, write_folder

import sqlanon
from sqlanon.errors import HierarchyError, SchemeError, SubjectError, UncoveredValueError

WHOLE = {"columns": {"age": {"cuts": []}, "sex": {"groups": [["F", "M"]]}}}


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


def labels(table: pd.DataFrame, column: dict[str, Any], level: int) -> tuple[str | None, ...]:
    """The labels of the only quasi-identifier of a table on a level of its hierarchy."""
    (name,) = table.columns
    document = {"columns": {name: {"role": "quasi", **column}}, "one_row_per_person": True}
    with sqlanon.load(document, data=table) as anonymizer:
        return anonymizer.scheme({"columns": {name: {"level": level}}}).labels(name)


def test_every_score_is_the_one_worked_out_by_hand(policy: Path) -> None:
    with sqlanon.load(policy) as anonymizer:
        solution = anonymizer.measure(policy.parent / "scheme.json")
    assert solution.feasible is True
    assert solution.scores == pytest.approx(SCORES)
    for name, value in SCORES.items():
        assert getattr(solution, name) == pytest.approx(value)
    with pytest.raises(AttributeError):
        solution.nothing  # noqa: B018


def test_suppression_leaves_the_small_class_out() -> None:
    policy = changed(privacy={"k": 3}, suppression={"limit": 0.4}, source=None)
    table = pd.read_csv(io.StringIO(CSV))
    with sqlanon.load(policy, data=table) as anonymizer:
        solution = anonymizer.measure(SCHEME)
    # floor(0.4 * 6) = 2 rows may go, which is the class of two: four rows in one class stay.
    assert (solution.suppressed, solution.k, solution.classes) == (2, 4, 1)
    assert solution.nwp == pytest.approx(23 / 27)
    assert solution.glm == pytest.approx(32 / 3)
    assert (solution.necd, solution.dcn) == (0, 28)
    assert solution.ce == pytest.approx(2 / 3)


def test_a_solution_as_a_document(policy: Path) -> None:
    with sqlanon.load(policy) as anonymizer:
        document = anonymizer.measure(SCHEME).to_dict()
    # The fields of a solution in result.json.
    assert list(document) == ["columns", *SCORES, "kept", "feasible"]
    assert document["columns"] == SCHEME["columns"]
    assert json.loads(json.dumps(document)) == document


def test_what_the_policy_does_not_ask_for_is_none(tmp_path: Path) -> None:
    columns = {name: POLICY["columns"][name] for name in ("age", "sex")}
    policy = changed(columns=columns, privacy=None, preference=None, others="drop")
    with sqlanon.load(write_folder(tmp_path, policy)) as anonymizer:
        solution = anonymizer.measure(SCHEME)
    assert (solution.feasible, solution.ach, solution.pref_dev, solution.ce) == (None,) * 4
    assert "ach" not in str(solution)


def test_several_schemes_at_once_come_in_their_order(policy: Path) -> None:
    with sqlanon.load(policy) as anonymizer:
        several = anonymizer.measure_all([WHOLE, SCHEME, anonymizer.scheme(WHOLE)])
        assert [s.k for s in several] == [6, 2, 6]
        assert anonymizer.evaluator.effort.distinct == 2
        assert anonymizer.measure_all([]) == []


def test_feasible_means_that_k_is_reached(tmp_path: Path) -> None:
    file = write_folder(tmp_path, changed(privacy={"k": 3}))
    with sqlanon.load(file) as anonymizer:
        assert [s.feasible for s in anonymizer.measure_all([SCHEME, WHOLE])] == [False, True]


def test_printing(policy: Path) -> None:
    with sqlanon.load(policy) as anonymizer:
        text = str(anonymizer.measure(SCHEME))
    assert "k                      2  people in the smallest class" in text
    assert "nwp               0.6296  " in text
    # By hand: four of six rows are below 35, and lose two of three steps; the others lose none.
    assert "age: 2 of 4 groups (largest 66.7%, lost 44.4%): [20, 35) · [35, 40]" in text
    assert "sex: 1 of 2 groups (largest 100.0%, lost 100.0%): *" in text
    assert "Little is left of sex (hidden)." in text


def test_printing_hostile_values() -> None:
    table = pd.DataFrame({"<b>": ["<script>", "a\x1b[2J\nb", None, "&amp;"]})
    document = {"columns": {"<b>": {"role": "quasi"}}, "one_row_per_person": True}
    groups = {"groups": [["&amp;"], ["<script>"], ["a\x1b[2J\nb"], [None]]}
    with sqlanon.load(document, data=table) as anonymizer:
        solution = anonymizer.measure({"columns": {"<b>": groups}})
    figures = "(largest 25.0%, lost 0.0%)"
    line = rf"<b>: 4 of 4 groups {figures}: &amp; · <script> · a\x1b[2J\nb · NULL"
    assert str(solution).splitlines()[-1] == line
    shown = solution._repr_html_()
    assert "<script>" not in shown
    assert f"&lt;b&gt;: 4 of 4 groups {figures}: &amp;amp; · &lt;script&gt;" in shown


def test_people_are_counted_not_rows(tmp_path: Path) -> None:
    # The example of docs/scores.md: the first two rows are one person's.
    csv = (
        "id,age,sex,outcome\n1,21,F,yes\n1,23,F,no\n2,27,M,yes\n3,34,M,no\n4,38,M,no\n5,39,F,yes\n"
    )
    policy = changed(one_row_per_person=None, subject="id")
    with sqlanon.load(write_folder(tmp_path, policy, csv)) as anonymizer:
        solution = anonymizer.measure(SCHEME)
        assert (anonymizer.histogram.rows, anonymizer.histogram.people) == (6, 5)
    assert (solution.k, solution.k_max, solution.necd) == (2, 3, 1 / 4)
    assert solution.nwp == pytest.approx(SCORES["nwp"])
    assert solution.dcn == SCORES["dcn"]


def test_a_subject_must_be_there_in_every_row(tmp_path: Path) -> None:
    csv = "id,age,sex,outcome\n1,21,F,yes\n,23,M,no\n"
    file = write_folder(tmp_path, changed(one_row_per_person=None, subject="id"), csv)
    with sqlanon.load(file) as anonymizer, pytest.raises(SubjectError, match=r"'id' is NULL in 1 "):
        anonymizer.measure(SCHEME)


def test_values_outside_the_domain_are_counted(tmp_path: Path) -> None:
    file = write_folder(tmp_path, csv="age,sex,outcome\n21,F,yes\n41,X,no\n")
    with sqlanon.load(file) as anonymizer, pytest.raises(UncoveredValueError) as caught:
        anonymizer.measure(SCHEME)
    age, sex, advice = str(caught.value).splitlines()
    assert age.startswith("column 'age': ")
    assert age.endswith("1 row has 1 value outside the declared range [20, 40]")
    assert sex.endswith("1 row has 1 value outside the declared values")
    assert caught.value.values == {"age": ("41",), "sex": ("X",)}
    assert advice.startswith("widen the domain")


def test_hierarchies_built_from_the_values() -> None:
    ages = pd.DataFrame({"age": [18, 22, 29, 34, 40]})
    widths = {"hierarchy": {"intervals": [10, 20], "origin": 5}}
    assert labels(ages, widths, 1) == ("[15, 25)", "[25, 35)", "[35, 45)")
    assert labels(ages, widths, 2) == ("[5, 25)", "[25, 45)")
    zips = pd.DataFrame({"zip": ["1234", "1239", "2000", "2004"]})
    assert labels(zips, {"hierarchy": {"mask": {}}}, 1) == ("123*", "200*")
    left = {"hierarchy": {"mask": {"character": "x", "from": "left"}}}
    assert labels(zips, left, 3) == ("xxx0", "xxx4", "xxx9")
    births = pd.DataFrame(
        {"birth": pd.to_datetime(["1990-02-03", "1990-02-06", "1991-05-06"]).date}
    )
    steps = {"hierarchy": {"date": ["day", "month", "year", "decade"]}}
    assert labels(births, steps, 1) == ("1990-02", "1991-05")
    assert labels(births, steps, 3) == ("1990s",)


@pytest.mark.parametrize(
    ("built", "said"),
    [
        ({"intervals": [5, 7]}, "column 'a': Hierarchy of intervals 5, 7: levels do not nest"),
        ({"date": ["day"]}, "column 'a': a hierarchy of dates needs dates, these values are int"),
    ],
)
def test_a_builder_that_does_not_fit_names_the_column(built: dict[str, Any], said: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        labels(pd.DataFrame({"a": [1, 2]}), {"hierarchy": built}, 0)
    assert str(caught.value).startswith(said)


def test_a_column_of_nulls_has_no_hierarchy_to_build() -> None:
    nulls = pd.DataFrame({"a": pd.Series([None, None], dtype="string[pyarrow]")})
    with pytest.raises(HierarchyError, match="column 'a' holds nothing but NULL; leave its"):
        labels(nulls, {"hierarchy": {"mask": {}}}, 0)
    assert labels(nulls, {}, 0) == (None,)


def test_a_hierarchy_in_a_table_of_the_database() -> None:
    # In the order of the values, 9 before 10, whatever the order of the rows.
    document = {
        "source": {"table": "people"},
        "columns": {"age": {"role": "quasi", "hierarchy": {"table": "main.ages"}}},
        "one_row_per_person": True,
    }
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT unnest([9, 10, 30, 31]) AS age")
        connection.execute(
            "CREATE TABLE ages AS FROM (VALUES (31, 'old', '*'), (10, 'young', '*'), "
            "(30, 'old', '*'), (9, 'young', '*')) AS ages(age, stage, everyone)"
        )
        with sqlanon.load(document, connection=connection) as anonymizer:
            scheme = anonymizer.scheme({"columns": {"age": {"level": 1}}})
            assert scheme.labels("age") == ("young", "old")
            assert anonymizer.space.columns[0].domain.left_ends == (9, 10, 30, 31)
            assert anonymizer.measure(scheme).classes == 2


def test_a_result_file_and_its_solutions(policy: Path) -> None:
    result = policy.parent / "result.json"
    solutions = [{"columns": WHOLE["columns"], "k": 6}, {"columns": SCHEME["columns"], "k": 2}]
    result.write_text(json.dumps({"solutions": solutions, "chosen": 1}), encoding="utf-8")
    with sqlanon.load(policy) as anonymizer:
        assert anonymizer.measure(result).k == 2
        assert anonymizer.measure(f"{result}#0").k == 6
        with pytest.raises(SchemeError, match="there is no solution 2; they are numbered 0 to 1"):
            anonymizer.measure(f"{result}#2")


def test_a_workspace_keeps_measurements(policy: Path) -> None:
    file = policy.parent / "work.duckdb"
    for distinct in (1, 0):
        with sqlanon.load(policy, workspace=file) as anonymizer:
            assert anonymizer.measure(SCHEME).scores == pytest.approx(SCORES)
            assert anonymizer.evaluator.effort.distinct == distinct
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_other_weights_need_no_new_measurement(policy: Path) -> None:
    file = policy.parent / "work.duckdb"
    with sqlanon.load(policy, workspace=file) as anonymizer:
        anonymizer.measure(SCHEME)
    columns = {**POLICY["columns"], "sex": {"role": "quasi", "values": ["F", "M"], "weight": 2}}
    other = write_folder(policy.parent, changed(columns=columns, privacy={"k": 3}))
    with sqlanon.load(other, workspace=file) as anonymizer:
        solution = anonymizer.measure(SCHEME)
        assert anonymizer.evaluator.effort.distinct == 0
    # Equal weights: (8/3 + 6) / 2 / 6.
    assert solution.nwp == pytest.approx(13 / 18)
    assert solution.feasible is False
