"""A search that found nothing feasible, and what is said of it afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, message
from small_table import changed, write_folder

import sqlanon
from sqlanon.errors import NoSolutionError
from sqlanon.search import METHODS

AGE = {"role": "quasi", "range": [20, 40], "granularity": 5}
LIMITED = {"age": AGE | {"max_level": 0}, "sex": {"role": "quasi"}, "outcome": {"role": "label"}}


def test_a_level_limit_is_named_as_what_may_help(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path, changed(columns=LIMITED))
    for method in ("auto", "optimal"):
        done = run("search", "policy.yml", "-q", "--method", method)
        assert done.status == 3
        assert "a higher max_level of column 'age' (0 of 1), a smaller k" in done.err
        assert "'sex'" not in done.err


def test_more_than_there_are_rows_is_no_matter_of_levels(run: Run, tmp_path: Path) -> None:
    write_folder(tmp_path, changed(columns=LIMITED, privacy={"k": 7}))
    assert "max_level" not in run("search", "policy.yml", "-q").err


@pytest.mark.parametrize(
    "command", [("publish", "policy.yml", "--scheme"), ("sql", "policy.yml", "--scheme"),
                ("choose",)]
)  # fmt: skip
def test_its_result_holds_no_scheme(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    write_folder(tmp_path, changed(columns=LIMITED, publish={"file": "out.csv"}))
    assert run("search", "policy.yml", "-q").status == 3
    assert message(3, run(*command, "result.json")) == (
        "error: result.json: the search found no solution that reaches the required privacy, so "
        "none is chosen; search again with weaker requirements or a higher suppression limit; to "
        "use one that falls short, name it, such as result.json#0"
    )


def test_python_says_how_close_the_search_came(tmp_path: Path) -> None:
    write_folder(tmp_path, changed(columns=LIMITED, publish={"file": str(tmp_path / "out.csv")}))
    with sqlanon.load(tmp_path / "policy.yml") as anonymizer:
        result = anonymizer.search()
        assert result.solution is None
        with pytest.raises(NoSolutionError) as refused:
            anonymizer.publish(result)
    assert str(refused.value) == (
        f"{result.shortfall()} To use one that falls short, give it from `solutions`."
    )
    assert "No solution reaches the required privacy" in str(refused.value)
    assert not (tmp_path / "out.csv").exists()


# Six people with two outcomes, three of each.
ILL: dict[str, Any] = {
    "age": AGE,
    "sex": {"role": "quasi"},
    "outcome": {"role": "sensitive", "accept": "it is in the test"},
}


def asked(folder: Path, run: Run, **sections: Any) -> str:
    """What a short search says that finds nothing."""
    privacy = {"k": 2, **sections.pop("privacy")}
    policy = changed(
        columns=ILL, privacy=privacy, search={"method": "nsga2", "evaluations": 40}, **sections
    )
    write_folder(folder, policy)
    done = run("search", "policy.yml", "-q")
    assert done.status == 3, done.err
    return done.err


@pytest.mark.parametrize(
    ("privacy", "never"),
    [
        ({"l_diversity": {"l": 3}},
         "distinct l = 3 on 'outcome': the column has 2 distinct values"),
        ({"l_diversity": {"kind": "entropy", "l": 2.5}},
         "entropy l = 2.5 on 'outcome': the column has 2 distinct values"),
        ({"l_diversity": {"kind": "recursive", "c": 9, "l": 3}},
         "recursive (c, l) = (9, 3) on 'outcome': the column has 2 distinct values"),
        ({"l_diversity": {"kind": "recursive", "c": 1, "l": 2}},
         "recursive (c, l) = (1, 2) on 'outcome': the column has 2 distinct values, and even of "
         "equally frequent ones that is too much"),
        ({"alpha_k": {"alpha": 0.4}},
         "alpha = 0.4 on 'outcome': the column has 2 distinct values, so one of them has at least "
         "1/2 of any class"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_what_no_release_can_reach(
    run: Run, tmp_path: Path, privacy: dict[str, Any], never: str, limit: float
) -> None:
    said = asked(tmp_path, run, privacy=privacy, suppression={"limit": limit})
    assert said.endswith(f" No release can satisfy {never}. Require less.\n")
    assert "What may help" not in said


UNEVEN = "age,sex,outcome\n" + "".join(f"{20 + i},F,{o}\n" for i, o in enumerate("yyyyyynx"))


@pytest.mark.parametrize(
    ("privacy", "limit", "never"),
    [
        ({"alpha_k": {"alpha": 0.7}}, 0.0, "one value has the share 0.75 of the whole source"),
        ({"alpha_k": {"alpha": 0.6}}, 0.25,
         "one value has the share 0.75 of the whole source, and 0.6667 without the rows that may "
         "be left out"),
        ({"l_diversity": {"kind": "entropy", "l": 2.5}}, 0.0,
         "the whole source has 2.087, and no row may be left out"),
        ({"l_diversity": {"kind": "recursive", "c": 3, "l": 2}}, 0.0,
         "the whole source has 3, and no row may be left out"),
        ({"alpha_k": {"alpha": 0.7}}, 0.25, None),
        ({"t_closeness": {"t": 0.0}, "l_diversity": {"l": 3}}, 0.0, None),
    ],
)  # fmt: skip
def test_what_the_whole_source_does_not_have(
    run: Run, tmp_path: Path, privacy: dict[str, Any], limit: float, never: str | None
) -> None:
    write_folder(
        tmp_path,
        changed(columns=ILL, privacy={"k": 2, **privacy}, suppression={"limit": limit}),
    )
    (tmp_path / "people.csv").write_text(UNEVEN, encoding="utf-8")
    done = run("search", "policy.yml", "-q")
    if never is None:
        assert "No release can" not in done.err
        return
    assert done.status == 3
    assert done.err.endswith(f": {never}. Require less.\n")


def test_a_population_of_fewer_people(run: Run, tmp_path: Path) -> None:
    people = "age,sex\n" + "25,F\n37,M\n30,F\n" * 3
    (tmp_path / "all.csv").write_text(people, encoding="utf-8")
    said = asked(tmp_path, run, privacy={"k_map": 10}, population={"file": "all.csv"})
    assert "In the closest, k-map k = 10 does not hold: reached 9. No release can" in said
    assert said.endswith("satisfy k-map k = 10: the population has 9 people. Require less.\n")


def test_people_with_several_rows_may_reach_more_than_the_whole(run: Run, tmp_path: Path) -> None:
    """Their shares are no mixture, so nothing is said that is not certain."""
    rows = [(20, "a", "y"), (20, "b", "n"), (35, "a", "y"), (35, "c", "n"), (35, "d", "n")]
    table = "".join(f"{age},F,{who},{ill}\n" for age, who, ill in rows)
    columns = ILL | {"who": {"role": "identifying"}}
    policy = changed(columns=columns, privacy={"k": 2, "alpha_k": {"alpha": 0.55}}, subject="who")
    del policy["one_row_per_person"]
    write_folder(tmp_path, policy)
    (tmp_path / "people.csv").write_text("age,sex,who,outcome\n" + table, encoding="utf-8")
    assert "No release can" not in run("search", "policy.yml", "-q").err


@pytest.mark.parametrize("method", [name for name, each in METHODS.items() if not each.interactive])
def test_what_nothing_can_reach_is_not_searched(run: Run, tmp_path: Path, method: str) -> None:
    """Six people cannot be seven: the coarsest scheme, which has them in one class, is all."""
    write_folder(tmp_path, changed(privacy={"k": 7}))
    done = run("search", "policy.yml", "--method", method, "--json")
    assert done.status == 3
    assert "There are fewer rows than k = 7" in done.err
    found = json.loads(done.out)
    assert found["method"] == method
    assert found["evaluations"]["asked"] == 1
    assert [(s["k"], s["feasible"]) for s in found["solutions"]] == [(6, False)]
    assert "nothing was searched: no scheme can reach what the policy requires" in found["notes"]
