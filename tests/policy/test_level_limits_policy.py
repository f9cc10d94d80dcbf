"""min_level and max_level from the policy to the searches, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from policy_mistakes import of_age
from scheme_columns import refines
from search_table import POLICY, SETTINGS, write_search_folder

import sqlanon
from sqlanon.errors import PolicyError, SchemeError
from sqlanon.policy.policy import parse_policy

# Ages under intervals of 10 and everything; jobs, kinds of jobs, everything; zips z20 to z35.
LIMITS: dict[str, dict[str, Any]] = {
    "age": {"hierarchy": {"intervals": [10]}, "family": "contiguous", "min_level": 1},
    "job": {"max_level": 1},
    "zip": {"min_level": 1, "max_level": 1},
    "sex": {"max_level": 0},
}
WITHIN = {"job": {"level": 1}, "zip": {"level": 1}, "sex": {"level": 0}}


def limited(**limits: dict[str, Any]) -> dict[str, Any]:
    columns = POLICY["columns"]
    return {name: {**columns[name], **limits.get(name, {})} for name in columns}


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"min_level": -1}, ".min_level: found -1, expected a whole number of at least 0"),
        ({"max_level": 1.5}, ".max_level: found 1.5, expected a whole number of at least 0"),
        ({"max_level": "1"}, ".max_level: found '1', expected a whole number of at least 0"),
        ({"max_level": True}, ".max_level: found true, expected a whole number of at least 0"),
        (
            {"min_level": 3, "max_level": 2},
            ": min_level 3 is above max_level 2; lower the one or raise the other",
        ),
        (
            {"role": "sensitive", "max_level": 2},
            ": max_level is for quasi-identifiers; the role is sensitive",
        ),
    ],
)
def test_mistakes(keys: dict[str, Any], line: str) -> None:
    assert f"columns.age{line}" in of_age(**keys)


def test_without_limits() -> None:
    column = parse_policy({"columns": {"a": {"role": "quasi"}}, "one_row_per_person": True})
    section = column.section.columns["a"]
    assert (section.min_level, section.max_level) == (0, None)


@pytest.mark.parametrize("method", SETTINGS)
def test_every_method_keeps_within_the_limits(tmp_path: Path, method: str) -> None:
    section = {"method": method, **SETTINGS[method]}
    policy = write_search_folder(tmp_path, section, columns=limited(**LIMITS), privacy={"k": 2})
    with sqlanon.load(policy) as anonymizer:
        height = anonymizer.space.heights[0]
        assert anonymizer.space.limits == ((1, height), (0, 1), (1, 1), (0, 0))
        result = anonymizer.search()
        assert result.solutions
        for solution in result.solutions:
            pairs = zip(solution.scheme.columns, solution.scheme.partitions, strict=True)
            for column, partition in pairs:
                assert refines(partition, column.levels[column.limits[1]])
                assert refines(column.levels[column.limits[0]], partition)


@pytest.mark.parametrize(
    ("column", "entry", "words"),
    [
        ("zip", {"level": 0}, "min_level 1, which has 'z20' and 'z21' in one group; merge"),
        ("zip", {"level": 2}, "max_level 1, which keeps 'z29' and 'z30' apart; cut"),
        ("job", {"level": 2}, "is more general than max_level 1, which keeps 'guard' and 'smith'"),
        ("sex", {"groups": [["F", "M"]]}, "max_level 0, which keeps 'F' and 'M' apart; cut"),
    ],
)
def test_a_scheme_beyond_the_limits_is_not_measured(
    tmp_path: Path, column: str, entry: dict[str, Any], words: str
) -> None:
    policy = write_search_folder(tmp_path, {}, columns=limited(**LIMITS))
    with sqlanon.load(policy) as anonymizer:
        good = {"columns": {"age": {"level": 1}, **WITHIN}}
        assert anonymizer.measure(good).k >= 1
        good["columns"][column] = entry
        with pytest.raises(SchemeError) as caught:
            anonymizer.measure(good)
    assert str(caught.value).startswith(f"scheme: column {column!r}: its partition ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            {"job": {"min_level": 3}},
            "column 'job': min_level 3 is not one of its levels; under the hierarchy ",
        ),
        (
            {"sex": {"max_level": 2}},
            "column 'sex': max_level 2 is not one of its levels; without a hierarchy its height "
            "is 1, so give 0 (the values) to 1 (all in one group)",
        ),
    ],
)
def test_a_level_above_the_height_is_refused_when_the_table_is_counted(
    tmp_path: Path, limits: dict[str, dict[str, Any]], words: str
) -> None:
    policy = write_search_folder(tmp_path, {}, columns=limited(**limits))
    with sqlanon.load(policy) as anonymizer, pytest.raises(PolicyError) as caught:
        anonymizer.search()
    assert str(caught.value).startswith(words)
    assert "height is" in str(caught.value)
