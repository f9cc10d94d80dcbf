"""Privacy models and the population in a policy: what is refused, and in which words."""

from __future__ import annotations

import math
from typing import Any

import pytest
from policy_mistakes import of

from sqlanon.policy.policy import parse_policy
from sqlanon.release.order import accepted_homogeneity

COLUMNS = {
    "age": {"role": "quasi"},
    "ill": {"role": "sensitive"},
    "pay": {"role": "sensitive"},
}


@pytest.mark.parametrize(
    ("privacy", "line"),
    [
        ({"t_closeness": {"t": 2}}, "t_closeness.t: found 2, expected a number from 0 to 1"),
        ({"t_closeness": [{"t": 0.1, "x": 1}]}, "t_closeness.0.x: unknown key; known here: "
         "columns, t, distance"),
        ({"l_diversity": {}}, "l_diversity.l: is missing; expected a number of at least 1"),
        ({"l_diversity": [{"l": 2}, {"kind": "entropy"}]}, "l_diversity.1.l: is missing; expected "
         "a number of at least 1"),
        ({"t_closeness": {}}, "t_closeness.t: is missing; expected a number from 0 to 1"),
        ({"t_closeness": [{}]}, "t_closeness.0.t: is missing; expected a number from 0 to 1"),
        ({"beta_likeness": {}}, "beta_likeness.beta: is missing; expected a number above 0"),
        ({"delta_disclosure": [{}]}, "delta_disclosure.0.delta: is missing; expected a number "
         "above 1e-9"),
        ({"alpha_k": {}}, "alpha_k.alpha: is missing; expected a number from 0 to 1"),
        ({"homogeneity": {}}, "homogeneity.accept: is missing; expected text that is not blank"),
        ({"l_diversity": {"l": math.inf}}, "l_diversity.l: found inf, expected a finite number of "
         "at least 1"),
        ({"l_diversity": {"kind": "recursive", "l": 2, "c": math.inf}}, "l_diversity.c: found inf, "
         "expected a finite number above 1e-9"),
        ({"l_diversity": {"l": 2.5}}, "l_diversity.l: found 2.5, expected a whole number for kind "
         "distinct"),
        ({"l_diversity": {"kind": "recursive", "l": 2}}, "l_diversity.c: is missing; kind "
         "recursive needs it, such as c: 3"),
        ({"l_diversity": {"l": 2, "c": 2}}, "l_diversity.c: is for kind recursive; the kind is "
         "distinct"),
        ({"l_diversity": {"kind": "recursive", "l": 2, "c": 1e-9}}, "l_diversity.c: found 1e-09, "
         "expected a number above 1e-9"),
        ({"delta_disclosure": [{"delta": 1e-12}]}, "delta_disclosure.0.delta: found 1e-12, "
         "expected a number above 1e-9"),
        ({"alpha_k": {"alpha": 0.5, "columns": ["age"]}}, "alpha_k.columns: 'age' is no column "
         "with the role sensitive; there are 'ill', 'pay'"),
        ({"k_map": 3}, "k_map: needs `population`, a table of the people that those of the source "
         "are a part of"),
        ({"homogeneity": {"accept": "x", "columns": ["ill"]}, "alpha_k": {"alpha": 1},
          "l_diversity": {"l": 2, "columns": ["ill"]}},
         "homogeneity.columns: 'ill' has a model, by privacy.l_diversity and privacy.alpha_k, so "
         "there is nothing to accept; leave the column out here or there"),
        ({"homogeneity": {"accept": "x"}, "alpha_k": {"alpha": 1, "columns": ["ill"]},
          "beta_likeness": [{"beta": 1, "columns": ["pay"]}]},
         "homogeneity: every sensitive column has a model, by privacy.alpha_k and "
         "privacy.beta_likeness, so there is nothing to accept; leave it out, or name the "
         "`columns` that the models are for"),
    ],
)  # fmt: skip
def test_mistakes(privacy: dict[str, Any], line: str) -> None:
    assert of(columns=COLUMNS, privacy={"k": 2, **privacy}) == [f"privacy.{line}"]


@pytest.mark.parametrize(
    ("key", "wrong", "right"),
    [
        ("l_diversity", "ll", "l: is missing; expected a number of at least 1"),
        ("t_closeness", "tt", "t: is missing; expected a number from 0 to 1"),
        ("beta_likeness", "betta", "beta: is missing; expected a number above 0"),
        ("delta_disclosure", "dleta", "delta: is missing; expected a number above 1e-9"),
        ("alpha_k", "alfa", "alpha: is missing; expected a number from 0 to 1"),
    ],
)
def test_a_key_that_is_spelled_wrong(key: str, wrong: str, right: str) -> None:
    """One is unknown, the other is missing; neither names anything but keys of the policy."""
    for given, place in (({wrong: 1}, key), ([{wrong: 1}], f"{key}.0")):
        assert sorted(of(columns=COLUMNS, privacy={"k": 2, key: given})) == sorted(
            [
                f"privacy.{place}.{wrong}: unknown key; did you mean {right.partition(':')[0]}?",
                f"privacy.{place}.{right}",
            ]
        )


def test_a_population_says_where_it_is() -> None:
    """With or without k_map, and beside other mistakes."""
    line = "population: says no table, query or file to read; give one of them"
    assert of(population={}) == [line]
    assert of(population={"subject": "who"}, privacy={"k": 2, "k_map": 2}) == [line]
    assert set(of(population={}, privacy={"k": 0})) > {line}


def test_a_view_counts_a_population_of_its_own_database() -> None:
    place = {"source": {"connection": "duckdb:///a.duckdb", "table": "t"}}
    view = {"publish": {"mode": "view", "to": "v"}, "population": {"file": "all.csv"}}
    assert of(**place, **view, privacy={"k": 2, "k_map": 2}) == [
        "population.file: a view with k_map counts the population at every read, and reads what is "
        "in its own database; copy the file into a table there"
    ]
    parse_policy({"columns": {"age": {"role": "quasi"}}, "one_row_per_person": True,
                  **place, **view, "privacy": {"k": 2}})  # fmt: skip


def test_a_model_needs_a_sensitive_column() -> None:
    columns = {"age": {"role": "quasi"}}
    assert of(columns=columns, privacy={"k": 2, "l_diversity": {"l": 2}}) == [
        "privacy.l_diversity: needs a column with the role sensitive"
    ]


@pytest.mark.parametrize(
    ("privacy", "columns", "reason"),
    [
        ({}, ("ill", "pay"), None),
        ({"l_diversity": {"l": 2}}, (), None),
        ({"l_diversity": {"l": 2, "columns": ["ill"]}}, ("pay",), None),
        ({"homogeneity": {"accept": "x"}}, ("ill", "pay"), "x"),
        ({"homogeneity": {"accept": "x", "columns": ["ill"]}}, ("ill", "pay"), None),
        (
            {"homogeneity": {"accept": "x"}, "alpha_k": {"alpha": 1, "columns": ["pay"]}},
            ("ill",),
            "x",
        ),
    ],
)
def test_columns_without_a_model(
    privacy: dict[str, Any], columns: tuple[str, ...], reason: str | None
) -> None:
    document = {
        "columns": COLUMNS,
        "one_row_per_person": True,
        "privacy": {"k": 2, **privacy},
    }
    policy = parse_policy(document)
    assert policy.section.uncovered_sensitive(accepted=False) == columns
    assert accepted_homogeneity(policy) == reason
