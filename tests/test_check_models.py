"""Privacy models and populations in `sqlanon check` and `sqlanon.check`."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from command_line import Run, message

import sqlanon
from sqlanon.domain.hierarchy import Hierarchy
from sqlanon.errors import ArgumentError, CheckError, EngineError

# Two classes of three: flu, flu, gout and flu, NULL, scurvy.
CSV = """\
age,ill,salary,day
20s,flu,3000,2026-01-02
20s,gout,4000,2026-02-03
20s,flu,5000,2026-3-4
30s,flu,6000,2026-04-05
30s,,11000,2026-1-2
30s,scurvy,8000,2026-05-06
"""
EVERYONE = "age\n20s\n20s\n20s\n20s\n30s\n30s\n30s\n40s\n"
ILLNESSES = "flu,infection,*\ngout,other,*\nscurvy,other,*\n"
CHECK = ("check", "people.csv", "--qi", "age")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "everyone.csv").write_text(EVERYONE, encoding="utf-8")
    (tmp_path / "ill.csv").write_text(ILLNESSES, encoding="utf-8")
    with duckdb.connect(tmp_path / "ware.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{tmp_path / 'people.csv'}'")
        connection.execute(f"CREATE TABLE everyone AS FROM '{tmp_path / 'everyone.csv'}'")
        connection.execute(
            "CREATE TABLE whole AS SELECT unnest("
            "['flu', 'flu', 'gout', NULL, 'scurvy', 'mumps']) AS ill"
        )
    return tmp_path


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "people.csv")


# What a model requires, and what is said where it does not hold. In the whole table 3 of 6 have
# flu, the others 1 each; 20s has flu 2/3, gout 1/3, and 30s flu, NULL and scurvy 1/3 each.
MODELS = [
    (["--l", "2"], None),
    (["--l", "3"], "distinct l = 3 on 'ill': the worst class has 2; 1 of 2"),
    (["--l", "1.88", "--l-kind", "entropy"], None),  # 3 / 2 ** (2/3) = 1.8899
    (["--l", "1.9", "--l-kind", "entropy"],
     "entropy l = 1.9 on 'ill': the worst class has 1.89; 1 of 2"),
    (["--l", "2", "--l-kind", "recursive", "--c", "2.1"], None),
    (["--l", "2", "--l-kind", "recursive", "--c", "2"],
     "recursive (c, l) = (2, 2) on 'ill': the worst class has 2, which is not below it; 1 of 2"),
    (["--t", "0.34"], None),
    (["--t", "0.3"], "t = 0.3 (equal distance) on 'ill': the worst class has 0.3333; 2 of 2"),
    # By the hierarchy: 20s has +1/6 of flu and gout, too little of NULL and scurvy. 1/6 goes from
    # gout to scurvy for 1/2, 1/6 from flu to NULL for 1: 1/4. 30s: +1/6 of NULL and scurvy from
    # flu and gout, the same.
    (["--t", "0.25", "--hierarchy", "ill=ill.csv"], None),
    (["--t", "0.24", "--hierarchy", "ill=ill.csv"],
     "t = 0.24 (hierarchical distance) on 'ill': the worst class has 0.25; 2 of 2"),
    (["--t", "0.24", "--hierarchy", "ill=ill.csv", "--distance", "equal"],
     "t = 0.24 (equal distance) on 'ill': the worst class has 0.3333; 2 of 2"),
    (["--beta", "1"], None),
    (["--beta", "0.9"], "beta = 0.9 on 'ill': the worst class has 1; 2 of 2"),
    (["--delta", "9"], "delta = 9 on 'ill': the worst class has no bound; 2 of 2"),
    (["--alpha", "0.67"], None),
    (["--alpha", "0.6"], "alpha = 0.6 on 'ill': the worst class has 0.6667; 1 of 2"),
    (["--population", "everyone.csv", "--k-map", "3"], None),
    (["--population", "everyone.csv", "--k-map", "4"],
     "k-map k = 4: the worst class has 3; 1 of 2"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "said"), MODELS, ids=lambda each: " ".join(each or ["holds"]))
def test_models(run: Run, options: list[str], said: str | None) -> None:
    done = run(*CHECK, "--sensitive", "ill", *options)
    if said is None:
        assert (done.status, done.err) == (0, "")
        assert done.out.endswith(" holds\n")
    else:
        assert done.status == 3
        assert done.err.startswith(said)
        assert done.err.count("\n") == 1


def test_the_default_distance_is_by_order(run: Run) -> None:
    done = run(*CHECK, "--sensitive", "salary,day", "--t", "0.01")
    assert done.err.startswith("t = 0.01 (ordered distance) on 'salary': the worst class has 0.3;")
    # Days in order: 2 Jan twice, 3 Feb, 4 Mar, 5 Apr, 6 May; 20s has the first three. Cumulated
    # differences in sixths: 0, 1, 2, 1, 0, divided by 4.
    assert "(ordered distance) on 'day': the worst class has 0.1667;" in done.err


def test_json(run: Run) -> None:
    options = ["--sensitive", "ill,salary", "--hierarchy", "ill=ill.csv", "--l", "3", "--json"]
    done = run(*CHECK, *options, "--population", "everyone.csv", "--threshold", "0.3")
    assert done.status == 3
    document: Any = json.loads(done.out)
    assert document["l"]["ill"] == {
        "distinct": 2, "entropy": pytest.approx(3 / 2 ** (2 / 3)), "recursive_c": 2.0,
    }  # fmt: skip
    assert document["t"]["ill"] == {
        "equal": pytest.approx(1 / 3), "ordered": None, "hierarchical": 0.25,
    }  # fmt: skip
    assert document["t"]["salary"]["hierarchical"] is None
    assert document["t"]["salary"]["ordered"] == pytest.approx(0.3)
    assert document["beta"] == {"ill": 1.0, "salary": 1.0}
    assert document["delta"] == {"ill": None, "salary": None}
    assert document["sensitive"]["ill"] == {
        "largest_share": pytest.approx(2 / 3), "fewest_values": 2,
    }  # fmt: skip
    assert document["models"][0] == {
        "required": "distinct l = 3 on 'ill'",
        "reached": 2.0,
        "violating": {"classes": 1, "rows": 3, "people": 3},
    }
    risk = document["risk"]
    assert risk["journalist"] == {
        "k_map": 3, "unmatched": 0, "highest": pytest.approx(1 / 3),
        "average": pytest.approx((1 / 4 + 1 / 3) / 2), "above": 0.5,
        "marketer": pytest.approx((1 / 4 + 1 / 3) / 2),
    }  # fmt: skip
    assert risk["sample_uniques"] == 0
    assert risk["population_uniques"] == {"population_size": 8, "estimated": 0.0, "counted": 0}
    assert document["violations"] == done.err.splitlines()


def test_what_is_shown(run: Run) -> None:
    options = ["--sensitive", "ill,salary", "--population", "everyone.csv", "--show-values"]
    lines = [line.split() for line in run(*CHECK, *options).out.splitlines() if line.strip()]
    assert ["in", "the", "worst", "class", "ill", "salary", "meaning"] in lines
    assert ["distinct", "l", "2", "3", "different", "values"] in lines
    assert ["delta", "unbounded", "unbounded", "|ln(p", "/", "q)|"] in lines
    assert ["t,", "ordered", "0.3", "by", "order"] in lines
    assert not any(line[:2] == ["t,", "hierarchical"] for line in lines)
    assert [
        "k-map",
        "3",
        "people",
        "of",
        "the",
        "population",
        "in",
        "the",
        "smallest",
        "class",
    ] in lines
    assert ["people", "rows", "population", "journalist", "risk", "age"] in lines
    assert ["3", "3", "4", "25.00%", "20s"] in lines


def test_tables_of_the_same_database(run: Run) -> None:
    options = ["ware.duckdb", "--table", "people", "--qi", "age", "--sensitive", "ill", "--json"]
    done = run("check", *options, "--reference", "whole", "--population", "everyone")
    document = json.loads(done.out)
    # In the whole flu has 2 of 6, the others 1: 20s has +2/6 of flu and +1/6 of gout.
    assert document["t"]["ill"]["equal"] == pytest.approx(1 / 2)
    assert document["risk"]["journalist"]["k_map"] == 3
    said = message(1, run("check", *options[:-1], "--reference", "wole"))
    assert said.startswith("error: --reference 'wole' is neither a file, which ends in .csv")
    assert "Did you mean 'whole'" in said


USAGE = [
    (["--l", "2"], "--l is for sensitive values; name the column that holds them with --sensitive"),
    (["--alpha", "0.5"], "--alpha is for sensitive values"),
    (["--sensitive", "ill", "--l", "2.5"],
     "--l: found 2.5, expected a whole number for kind distinct"),
    (["--sensitive", "ill", "--l", "0"], "--l: found 0.0, expected a number of at least 1"),
    (["--sensitive", "ill", "--l", "nan"], "--l: found nan, expected a finite number of at least"),
    (["--sensitive", "ill", "--l", "2", "--l-kind", "recursive"], "--c: is missing; kind"),
    (["--sensitive", "ill", "--l-kind", "entropy"], "--l: is missing; expected a number"),
    (["--sensitive", "ill", "--l", "2", "--c", "3"],
     "--c: is for kind recursive; the kind is distinct"),
    (["--sensitive", "ill", "--t", "1.5"], "--t: found 1.5, expected a number from 0 to 1"),
    (["--sensitive", "ill", "--distance", "equal"], "--t: is missing; expected a number from 0"),
    (["--sensitive", "ill", "--t", "0.1", "--distance", "hierarchical"],
     "--distance: hierarchical needs a hierarchy of column 'ill'"),
    (["--sensitive", "ill", "--t", "0.1", "--distance", "ordered"],
     "--distance: ordered needs numbers or dates, and column 'ill' holds VARCHAR; take "
     "equal or hierarchical"),
    (["--sensitive", "ill", "--hierarchy", "ill.csv"], "--hierarchy 'ill.csv': write COLUMN=FILE"),
    (["--sensitive", "ill", "--hierarchy", "day=ill.csv"],
     "--hierarchy: 'day' is not named by --sensitive"),
    (["--sensitive", "ill", "--beta", "0"], "--beta: found 0.0, expected a number above 0"),
    (["--sensitive", "ill", "--delta", "-1"], "--delta: found -1.0, expected a number above 1e-9"),
    (["--sensitive", "ill", "--alpha", "2"], "--alpha: found 2.0, expected a number from 0 to 1"),
    (["--sensitive", "ill,,day"], "--sensitive 'ill,,day': there is a name missing"),
    (["--sensitive", "age"], "column 'age' is named by --qi and by --sensitive"),
    (["--k-map", "2"], "--k-map counts people of a population; name a table with --population"),
    (["--population", "everyone.csv", "--population-size", "9"],
     "--population tells its size itself; leave it or --population-size out"),
    (["--reference", "everyone.csv"], "--reference is for sensitive values"),
    (["--table", "people"], "people.csv is checked as a whole; --table and --query need"),
]  # fmt: skip
MISTAKES = [
    (["--population-size", "5"], "the population has 5 people, and the table 6"),
    (["--population", "ill.csv"], "Source 'ill.csv' has no column 'age'"),
    (["--sensitive", "ill", "--reference", "everyone.csv"],
     "Source 'everyone.csv' has no column 'ill'"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "said"), USAGE, ids=lambda each: str(each)[:40])
def test_wrong_usage(run: Run, options: list[str], said: str) -> None:
    """Options are named as they are written, never as arguments of Python."""
    shown = message(2, run(*CHECK, *options))
    assert f"Error: {said}" in shown
    assert "`" not in shown
    assert "scurvy" not in shown


@pytest.mark.parametrize(("options", "said"), MISTAKES, ids=lambda each: str(each)[:40])
def test_mistakes(run: Run, options: list[str], said: str) -> None:
    shown = message(1, run(*CHECK, *options))
    assert shown.startswith(f"error: {said}")
    assert "scurvy" not in shown


def test_python_speaks_of_arguments(people: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="`k_map` counts people of a population"):
        sqlanon.check(people, ["age"], k_map=2)
    with pytest.raises(ArgumentError, match="`distance`: ordered needs numbers or dates"):
        sqlanon.check(people, ["age"], sensitive="ill", t=0.1, distance="ordered")


def test_an_order_that_the_reference_does_not_have(people: pd.DataFrame) -> None:
    texts = people.assign(salary=people["salary"].astype(str))
    for distance in ("ordered", None):
        with pytest.raises(CheckError, match="needs numbers or dates, and the reference holds"):
            sqlanon.check(
                people, ["age"], sensitive="salary", t=0.1, distance=distance, reference=texts
            )


def test_a_hierarchy_that_lacks_values(run: Run, folder: Path) -> None:
    (folder / "ill.csv").write_text("flu,*\n", encoding="utf-8")
    said = message(4, run(*CHECK, "--sensitive", "ill", "--hierarchy", "ill=ill.csv"))
    assert said.startswith("error: Hierarchy ill.csv has no leaf for 2 values of the sensitive col")
    assert "gout" not in said


def test_a_column_with_a_sign_of_equality(run: Run, folder: Path) -> None:
    (folder / "odd.csv").write_text("a,b=c\nx,flu\nx,gout\n", encoding="utf-8")
    options = ["--qi", "a", "--sensitive", "b=c", "--hierarchy", "b=c=ill.csv", "--t", "0"]
    assert run("check", "odd.csv", *options).status == 0


def test_in_python(people: pd.DataFrame, folder: Path) -> None:
    everyone = pd.read_csv(folder / "everyone.csv")
    tree = Hierarchy.from_rows([["flu", "*"], ["gout", "*"], ["scurvy", "*"]], "mine")
    result = sqlanon.check(
        people, "age", 3, sensitive="ill", l=2, t=0.4, hierarchy={"ill": tree}, beta=1, alpha=0.7,
        population=everyone, k_map=3,
    )  # fmt: skip
    assert result.holds
    assert [each.describe() for each in result.required] == [
        "k = 3", "distinct l = 2 on 'ill'", "t = 0.4 (hierarchical distance) on 'ill'",
        "beta = 1 on 'ill'", "alpha = 0.7 on 'ill'", "k-map k = 3",
    ]  # fmt: skip
    assert result.audit.sensitive[0].t_hierarchical == pytest.approx(1 / 3)
    again = sqlanon.check(people, "age", sensitive="ill", hierarchy={"ill": folder / "ill.csv"})
    assert again.audit.sensitive[0].t_hierarchical == 0.25
    whole = sqlanon.check(people, "age", sensitive="ill", reference=people[people.age == "20s"])
    assert math.isinf(whole.audit.sensitive[0].beta)  # nobody there has scurvy
    assert "unbounded" in str(whole)
    with pytest.raises(ArgumentError, match="`l_kind`: found 'any', expected 'distinct'"):
        sqlanon.check(people, "age", sensitive="ill", l=2, l_kind="any")
    with pytest.raises(ArgumentError, match="`distance`: found 'far', expected 'equal'"):
        sqlanon.check(people, "age", sensitive="ill", t=0.2, distance="far")
    with pytest.raises(EngineError, match=r"the reference 'nowhere' is neither a file"):
        sqlanon.check(people, "age", sensitive="ill", reference="nowhere")


def test_the_privacy_section_of_a_policy(people: pd.DataFrame) -> None:
    """Its keys mean what they mean in a policy; the shortcuts stand for some of them."""
    columns = ["ill", "salary"]
    privacy = {
        "k": 3,
        "l_diversity": [{"l": 2, "columns": ["ill"]}, {"l": 3, "columns": ["salary"]}],
        "alpha_k": {"alpha": 0.7},
    }
    result = sqlanon.check(people, "age", sensitive=columns, privacy=privacy, beta=1)
    assert result.holds
    assert [each.describe() for each in result.required] == [
        "k = 3", "distinct l = 2 on 'ill'", "distinct l = 3 on 'salary'", "beta = 1 on 'ill'",
        "beta = 1 on 'salary'", "alpha = 0.7 on 'ill'", "alpha = 0.7 on 'salary'",
    ]  # fmt: skip
    (one,) = sqlanon.check(people, "age", sensitive=columns, privacy={"k": 4}).violations
    assert one.startswith("k is 3, required 4:")
    assert sqlanon.check(people, "age", privacy={}).required == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"privacy": {"beta_likeness": {"beta": 0}}}, "privacy.beta_likeness.beta: found 0, expec"),
        ({"privacy": {"l_divers": {"l": 2}}}, "privacy.l_divers: unknown key; did you mean l_div"),
        ({"privacy": 3}, "`privacy` is 3; give a mapping"),
        ({"privacy": {"k": 2}, "k": 3}, "`k` and `privacy` both require a k"),
        ({"privacy": {"l_diversity": {"l": 3}}, "l": 2}, "`l` and `privacy` both require l_divers"),
        ({"privacy": {"k_map": 3}}, "`privacy.k_map` counts people of a population"),
        ({"privacy": {"alpha_k": {"alpha": 0.5, "columns": ["salary"]}}},
         "privacy.alpha_k.columns: 'salary' is not named by `sensitive`"),
        ({"privacy": {"alpha_k": {"alpha": 0.5}}, "sensitive": ()},
         "`privacy.alpha_k` is for sensitive values"),
    ],
)  # fmt: skip
def test_mistakes_in_the_privacy_section(
    people: pd.DataFrame, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArgumentError, match=re.escape(said)):
        sqlanon.check(people, "age", **{"sensitive": "ill", **given})


def test_people_of_a_population(people: pd.DataFrame) -> None:
    """Distinct subjects where the population has their column, otherwise its rows."""
    people["who"] = [1, 1, 2, 3, 4, 5]
    everyone = pd.DataFrame({"age": ["20s"] * 3 + ["30s"] * 3, "who": [1, 1, 2, 3, 4, 5]})
    named = sqlanon.check(people, "age", subject="who", population=everyone).audit.journalist
    rows = sqlanon.check(people, "age", subject="who", population=everyone[["age"]]).audit
    assert named is not None
    assert rows.journalist is not None
    assert (named.k, rows.journalist.k) == (2, 3)


def test_a_csv_population_is_compared_as_it_is_written(folder: Path, run: Run) -> None:
    (folder / "a.csv").write_text("a,b\n1.0,x\n1.0,y\n", encoding="utf-8")
    (folder / "b.csv").write_text("a\n1.0\n1.0\n1.00\n", encoding="utf-8")
    done = run("check", "a.csv", "--qi", "a", "--population", "b.csv", "--json")
    assert json.loads(done.out)["risk"]["journalist"]["k_map"] == 2


def test_an_empty_table_satisfies_nothing(people: pd.DataFrame) -> None:
    result = sqlanon.check(people[:0], "age", sensitive="ill", l=1, t=1, alpha=1)
    assert (
        result.violations[0] == "the table has no rows, so distinct l = 1 on 'ill' cannot be shown"
    )
    assert len(result.violations) == 3
    assert json.dumps(result.to_dict(), allow_nan=False)
